CREATE TABLE runs (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, finished_at TEXT, error TEXT, summary TEXT NOT NULL, record TEXT NOT NULL
);
CREATE INDEX runs_by_state ON runs (state);
CREATE TABLE results (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step INTEGER NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (run, step)
);
CREATE TABLE samples (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, n INTEGER NOT NULL, samples TEXT NOT NULL,
    PRIMARY KEY (run, n)
);
PRAGMA user_version = 1;
INSERT INTO runs VALUES ('20261130-110000-000-abcd', 'done', '2026-11-30T11:00:06Z', NULL,
'{"id":"20261130-110000-000-abcd","started_at":"2026-11-30T11:00:00Z","state":"done","title":"randread 4k QD1","target":"/mnt","drive":null,"host":"bench","headline":{"label":"randread 4k QD1","bw":4096000.0,"iops":1000.0,"not_comparable":null}}',
'{"id":"20261130-110000-000-abcd","version":"0.1.0","started_at":"2026-11-30T11:00:00Z","state":"running","spec":{"target":"/mnt","keep_file":false,"steps":[{"repetition":1,"warmup":false,"pause":0.0,"workload":{"rw":"randread","rwmixread":50,"bs":4096,"iodepth":1,"numjobs":1,"offset":0,"runtime":5.0,"ramp_time":0.0,"rate_process":"linear","thinktime":0,"buffered":false,"invalidate":1,"wait":"enter","random_distribution":"random","randseed":24301}}]},"host":{"hostname":"bench"},"target":{"path":"/mnt","kind":"directory","filesystem":"ext4","mount_point":"/mnt","mount_options":"rw","device":"/dev/sda1","dev":[8,1],"size":null,"free":1000000,"total":2000000,"direct":{"supported":true,"mem_align":512,"offset_align":512,"evidence":"statx"}},"engine":{"io_uring":true,"reason":null,"features":[],"missing":[],"wait_modes":["enter"],"memlock":null,"ceiling":null},"results":[]}');
INSERT INTO results VALUES ('20261130-110000-000-abcd', 0,
'{"step":0,"elapsed_ns":5000000000,"read":{"ios":5000,"bytes":20480000,"iops":1000.0,"bw":4096000.0,"lat":{"n":5000,"min_ns":1,"max_ns":2,"mean_ns":1.5,"stddev_ns":0.5,"percentiles":[[50.0,1]]},"hist":""},"cpu":{"user_s":0.1,"system_s":0.1,"context_switches":1,"per_io_ns":40.0},"engine":{"kind":"io-uring","features":[],"fallbacks":[],"cpus":[0]},"path":{"kind":"direct","evidence":"counted"},"caveats":[],"cut_short":false}');
INSERT INTO samples VALUES ('20261130-110000-000-abcd', 0,
'[{"step":0,"phase":"measure","t_ms":50.0,"dt_ms":50.0,"read":{"ios":50,"bytes":204800,"iops":1000.0,"bw":4096000.0},"write":{"ios":0,"bytes":0,"iops":0.0,"bw":0.0},"in_flight":1,"engine_cpu":0.1,"progress":0.01,"eta_ms":4950.0}]');
