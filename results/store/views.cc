#include "results/store/schema.h"

/// The views for people's own SQL (docs/sql.md names every column). Names carry units; what a
/// scenario gives as text with a unit is a number here.
namespace gradwire::results {

const char* const kViews = R"sql(
CREATE VIEW v_runs AS
SELECT r.id AS run, s.name AS scenario, r.scenario_hash, r.method, r.executor, r.detail, r.model, r.data_set,
  r.workers, r.seed, r.status,
  CASE WHEN json_extract(s.json, '$.network.link.bandwidth') IS NULL THEN NULL
       ELSE CAST(json_extract(s.json, '$.network.link.bandwidth') AS REAL) * CASE
         WHEN json_extract(s.json, '$.network.link.bandwidth') GLOB '*T?ps' THEN 1e12
         WHEN json_extract(s.json, '$.network.link.bandwidth') GLOB '*G?ps' THEN 1e9
         WHEN json_extract(s.json, '$.network.link.bandwidth') GLOB '*M?ps' THEN 1e6
         WHEN json_extract(s.json, '$.network.link.bandwidth') GLOB '*k?ps' THEN 1e3
         ELSE 1 END * CASE
         WHEN json_extract(s.json, '$.network.link.bandwidth') GLOB '*Bps' THEN 8
         ELSE 1 END END AS bandwidth_bps,
  CASE WHEN json_extract(s.json, '$.network.link.delay') IS NULL THEN NULL
       ELSE CAST(json_extract(s.json, '$.network.link.delay') AS REAL) * CASE
         WHEN json_extract(s.json, '$.network.link.delay') GLOB '*ns' THEN 1e-9
         WHEN json_extract(s.json, '$.network.link.delay') GLOB '*us' THEN 1e-6
         WHEN json_extract(s.json, '$.network.link.delay') GLOB '*ms' THEN 1e-3
         WHEN json_extract(s.json, '$.network.link.delay') GLOB '*min' THEN 60
         WHEN json_extract(s.json, '$.network.link.delay') GLOB '*h' THEN 3600
         ELSE 1 END END AS delay_s,
  json_extract(s.json, '$.network.link.loss') AS link_loss,
  r.steps_done, r.steps_total, r.step_time_s, r.simulated_s, r.time_to_target_s, r.final_accuracy,
  r.final_loss, r.compression_ratio, r.traffic_ratio, r.wire_bytes,
  (SELECT avg(exposed_s) FROM steps WHERE run_id = r.id) / r.step_time_s AS exposed_share,
  (SELECT group_concat(tag, ',') FROM tags WHERE run_id = r.id) AS tags,
  r.started_at, r.ended_at, r.error
FROM runs r JOIN scenarios s ON s.id = r.scenario_id;

CREATE VIEW v_groups AS
SELECT r.scenario, r.scenario_hash, r.method, r.executor, r.detail, r.workers, r.bandwidth_bps, r.delay_s,
  r.link_loss, count(*) AS seeds, min(r.run) AS first_run,
  avg(r.step_time_s) AS step_time_s, min(r.step_time_s) AS step_time_least_s,
  max(r.step_time_s) AS step_time_greatest_s,
  avg(r.final_accuracy) AS final_accuracy, min(r.final_accuracy) AS final_accuracy_least,
  max(r.final_accuracy) AS final_accuracy_greatest,
  avg(r.wire_bytes) AS wire_bytes, avg(r.simulated_s) AS simulated_s,
  avg(r.time_to_target_s) AS time_to_target_s, count(r.time_to_target_s) AS reached_target
FROM v_runs r
WHERE r.run IN (SELECT max(id) FROM runs WHERE status = 'finished'
                GROUP BY scenario_hash, seed, method, executor, detail, host, device, version)
GROUP BY r.scenario_hash, r.method, r.executor, r.detail,
  (SELECT host || device || version FROM runs WHERE id = r.run);

CREATE VIEW v_steps AS
SELECT run_id AS run, step, start_s, end_s,
  end_s - coalesce(lag(end_s) OVER (PARTITION BY run_id ORDER BY step), start_s) AS duration_s,
  compute_s, codec_s, exposed_codec_s, exposed_s, payload_bytes, wire_bytes, retransmissions, loss
FROM steps;

CREATE VIEW v_accuracy AS
SELECT m.run_id AS run, m.step, t.end_s AS time_s, t.sent_bytes AS wire_bytes,
  m.value AS accuracy, h.value AS held_out_loss
FROM metrics m
JOIN (SELECT run_id, step, end_s,
        sum(wire_bytes) OVER (PARTITION BY run_id ORDER BY step) AS sent_bytes FROM steps) t
  ON t.run_id = m.run_id AND t.step = m.step
LEFT JOIN metrics h ON h.run_id = m.run_id AND h.step = m.step AND h.name = 'held_out_loss'
WHERE m.name = 'accuracy';

CREATE VIEW v_figures AS
SELECT run_id AS run, name, value, unit, provenance FROM metrics
WHERE step = -1 AND name NOT LIKE 'note: %';

CREATE VIEW v_notes AS
SELECT run_id AS run, substr(name, 7) AS note FROM metrics
WHERE step = -1 AND name LIKE 'note: %';

CREATE VIEW v_updates AS
SELECT run, sampled, late, dropped_out, sampled - late - dropped_out AS arrived,
  late / sampled AS late_share
FROM (SELECT run_id AS run,
        sum(value * (name = 'clients_sampled')) - sum(value * (name = 'clients_busy')) AS sampled,
        sum(value * (name = 'clients_late'))
          - sum(value * (name = 'clients_of_earlier_rounds')) AS late,
        sum(value * (name = 'clients_dropped_out')) AS dropped_out
      FROM metrics WHERE step = -1 AND name GLOB 'clients_*' GROUP BY run_id)
WHERE sampled > 0;

CREATE VIEW v_links AS
SELECT run_id AS run, place, channel, name AS link, rate_bps FROM links;

CREATE VIEW v_scenario AS
SELECT r.id AS run,
  replace(replace(replace(replace(substr(t.fullkey, 2), '"', ''), '.', '/'), '[', '/'), ']', '')
    AS pointer,
  t.atom AS value
FROM runs r JOIN scenarios s ON s.id = r.scenario_id, json_tree(s.json) t
WHERE t.type NOT IN ('object', 'array');
)sql";

}  // namespace gradwire::results
