-- What pgbench's own transaction does, with the client's mark on what it adds to the history.
\set account random(1, 100000 * :scale)
\set teller random(1, 10 * :scale)
\set branch random(1, :scale)
\set amount random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :amount WHERE aid = :account;
UPDATE pgbench_tellers SET tbalance = tbalance + :amount WHERE tid = :teller;
UPDATE pgbench_branches SET bbalance = bbalance + :amount WHERE bid = :branch;
INSERT INTO pgbench_history (aid, tid, bid, delta, mtime, filler)
    VALUES (:account, :teller, :branch, :amount, now(), :client_id);
COMMIT;
