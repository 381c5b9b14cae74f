//! Text tables. Numbers are written with a point and without grouping, whatever the locale.

/// Rows of cells; the first column is words, the others are numbers and end at the right.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// Columns (after the first) that are words too.
    words: Vec<usize>,
}

impl Table {
    /// A table with this heading.
    pub(super) fn new(heading: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(heading.iter().copied());
        table
    }

    /// Has these columns begin at the left.
    pub(super) fn words(mut self, columns: &[usize]) -> Self {
        self.words = columns.to_vec();
        self
    }

    /// Adds a row.
    pub(super) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The text, each line ended.
    pub(super) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &[String], i: usize| row.get(i).map_or("", String::as_str).to_owned();
        let width = |i: usize| self.rows.iter().map(|r| cell(r, i).chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = widths.iter().enumerate().map(|(i, &w)| {
                let text = cell(row, i);
                if i == 0 || self.words.contains(&i) { format!("{text:<w$}") } else { format!("{text:>w$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(line).collect()
    }
}

/// A name and what it is, one pair a line, the second column aligned.
pub(super) fn pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut table = Table::default().words(&[1]);
    for (name, value) in pairs {
        table.row([name.to_owned(), value]);
    }
    table.render()
}

/// Three significant digits or one decimal, whichever is more: `0.123`, `12.3`, `1234.5`.
pub(super) fn number(v: f64) -> String {
    match v.abs() {
        _ if !v.is_finite() => "-".into(),
        a if a >= 10.0 || a == 0.0 => format!("{v:.1}"),
        a if a >= 1.0 => format!("{v:.2}"),
        _ => format!("{v:.3}"),
    }
}

/// A count or rate without decimals from 100 on.
pub(super) fn whole(v: f64) -> String {
    if v.abs() >= 100.0 { format!("{v:.0}") } else { number(v) }
}

/// Nanoseconds as microseconds.
pub(super) fn micros(ns: f64) -> String {
    number(ns / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["", "MB/s", "IOPS"]);
        table.row(["read", "1234.5", "7"]);
        table.row(["größer", "1.0"]);
        assert_eq!(table.render(), "          MB/s  IOPS\nread    1234.5     7\ngrößer     1.0\n");
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        let all = [0.0, 0.1234, 1.234, 12.34, 1_234_567.8, f64::NAN].map(number);
        assert_eq!(all, ["0.0", "0.123", "1.23", "12.3", "1234567.8", "-"]);
        assert_eq!([whole(99.96), whole(1234.5)], ["100.0", "1234"]);
    }
}
