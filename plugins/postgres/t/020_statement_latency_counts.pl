# What counts as a statement of a client, and to which class it belongs.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LatencyTest;
use SluiceTest;

SluiceTest::run_c_test('statement_latency_buckets_test');

my $node = LatencyTest::new_server('counts');

LatencyTest::ask(
	$node, q{
CREATE TABLE t (i int);
INSERT INTO t SELECT generate_series(1, 1000);
CREATE TABLE target (i int UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE log (i int);
CREATE SEQUENCE s;
CREATE FUNCTION reader() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    row record;
    n bigint := 0;
BEGIN
    FOR row IN SELECT i FROM t LIMIT 10 LOOP
        n := n + (SELECT count(*) FROM t);
    END LOOP;
    RETURN n;
END $$;
CREATE FUNCTION writer() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 10 LOOP INSERT INTO log VALUES (i); END LOOP;
END $$;
CREATE FUNCTION catcher() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN NULL;
END $$;
CREATE FUNCTION zero() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM catcher();
    PERFORM catcher();
    RETURN (SELECT 0);
END $$;
CREATE PROCEDURE committer() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 5 LOOP INSERT INTO log VALUES (i); COMMIT; END LOOP;
    INSERT INTO log VALUES (6); ROLLBACK;
END $$;
CREATE FUNCTION log_target() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    row record;
BEGIN
    FOR row IN INSERT INTO log SELECT i FROM t LIMIT 3 RETURNING i LOOP
        PERFORM count(*) FROM t;
    END LOOP;
    -- Not in COMMIT, where builds with assertions do not let it pass.
    IF new.i = 1 THEN PERFORM catcher(); END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON target
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION log_target();
CREATE TABLE ruled (i int);
CREATE RULE also AS ON INSERT TO ruled DO ALSO (INSERT INTO log VALUES (new.i); NOTIFY ruled);
CREATE TABLE queried (i int);
CREATE RULE also AS ON INSERT TO queried DO ALSO SELECT i FROM log;
});

# Known numbers of statements in each mode of the protocol, by several clients
sub pgbench_counts_are
{
	my ($name, $expected, $mode, $script) = @_;
	my $file = $node->basedir . '/script.sql';

	append_to_file($file, $script);
	LatencyTest::counts_are($node, "$name, $mode", $expected,
		sub {
			$node->command_ok(
				[ 'pgbench', '-n', '-c', 4, '-t', 50, '-M', $mode, '-f', $file, 'postgres' ],
				"pgbench: $name, $mode");
		});
	unlink $file;
	return;
}

foreach my $mode (qw(simple extended prepared))
{
	pgbench_counts_are('autocommit', 'read 400 errors 0, write 200 errors 0', $mode, q{
SELECT i FROM t LIMIT 5;
INSERT INTO log VALUES (1);
SELECT 1;
});
	# COMMIT belongs to the class of its transaction; BEGIN is not counted.
	pgbench_counts_are('blocks', 'read 600 errors 0, write 400 errors 0', $mode, q{
BEGIN;
SELECT i FROM t LIMIT 5;
INSERT INTO log VALUES (1);
COMMIT;
BEGIN;
SELECT 1;
END;
});
}

foreach my $mode (qw(extended prepared))
{
	# Which statement ends the implicit transaction shows only later.
	pgbench_counts_are('pipeline', 'read 400 errors 0, write 400 errors 0', $mode, q{
\startpipeline
SELECT 1;
INSERT INTO log VALUES (1);
SELECT i FROM t LIMIT 5;
INSERT INTO log VALUES (2) RETURNING i;
\endpipeline
});
	pgbench_counts_are('pipeline with a block', 'read 400 errors 0, write 400 errors 0', $mode, q{
\startpipeline
SELECT 1;
BEGIN;
INSERT INTO log VALUES (1);
COMMIT;
SELECT 2;
\endpipeline
});
}

# The plan of a SELECT that writes does not tell, its transaction does.
LatencyTest::sql_counts_are($node, 'SELECT that writes', 'read 0 errors 0, write 5 errors 0',
	'SELECT writer()', q{SELECT nextval('s')},
	'SELECT i FROM t LIMIT 1 FOR UPDATE',
	'WITH w AS (INSERT INTO log VALUES (1) RETURNING i) SELECT i FROM w',
	'SELECT 1 AS i INTO made');
LatencyTest::sql_counts_are($node, 'SELECT in a block that has written', 'read 1 errors 0, write 3 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', 'SELECT writer()', 'SELECT 1', 'COMMIT');

LatencyTest::sql_counts_are($node, 'statements of one Query message', 'read 2 errors 0, write 2 errors 0',
	'SELECT 1; INSERT INTO log VALUES (1); SELECT 2; INSERT INTO log VALUES (2)');
LatencyTest::sql_counts_are($node, 'blocks in one Query message', 'read 2 errors 0, write 2 errors 0',
	'SELECT 1; BEGIN; INSERT INTO log VALUES (1); COMMIT; SELECT 2');

LatencyTest::sql_counts_are($node, 'a function counts once', 'read 2 errors 0, write 0 errors 0',
	'SELECT reader()', 'DO $$ BEGIN PERFORM reader(); END $$');
LatencyTest::sql_counts_are($node, 'deferred triggers count with their statement', 'read 1 errors 0, write 3 errors 0',
	'INSERT INTO target VALUES (1)',
	'BEGIN', 'INSERT INTO target VALUES (2)', 'COMMIT', 'SELECT 1');
LatencyTest::sql_counts_are($node, 'a statement with rules counts once', 'read 0 errors 0, write 4 errors 0',
	'INSERT INTO ruled VALUES (1)', 'INSERT INTO queried VALUES (1)',
	'BEGIN', 'INSERT INTO ruled VALUES (1)', 'COMMIT');
LatencyTest::sql_counts_are($node, 'a procedure that commits counts once', 'read 0 errors 0, write 1 errors 0',
	'CALL committer()');
LatencyTest::sql_counts_are($node, 'utilities', 'read 3 errors 0, write 6 errors 0',
	'SHOW work_mem', 'EXPLAIN SELECT 1', 'COPY t TO STDOUT',
	'CREATE TABLE u (i int)', 'VACUUM t', 'TRUNCATE u', 'DROP TABLE u', 'CHECKPOINT',
	'REINDEX TABLE target');
LatencyTest::sql_counts_are($node, 'each step of a cursor counts', 'read 6 errors 0, write 0 errors 0',
	'BEGIN', 'DECLARE c CURSOR WITH HOLD FOR SELECT i FROM t', 'FETCH 5 FROM c', 'FETCH 5 FROM c',
	'COMMIT', 'FETCH 5 FROM c', 'CLOSE c');
LatencyTest::sql_counts_are($node, 'two-phase commit', 'read 0 errors 0, write 5 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', q{PREPARE TRANSACTION 'a'}, q{COMMIT PREPARED 'a'},
	'BEGIN; INSERT INTO log VALUES (1)', 'ROLLBACK');
LatencyTest::sql_counts_are($node, 'AND CHAIN', 'read 1 errors 0, write 6 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', 'COMMIT AND CHAIN', 'INSERT INTO log VALUES (1)',
	'ROLLBACK AND CHAIN', 'SELECT 1', 'INSERT INTO log VALUES (2)', 'COMMIT');

LatencyTest::ask($node, 'ALTER DATABASE postgres SET debug_parallel_query = on');
like(
	LatencyTest::ask($node, 'EXPLAIN SELECT count(*) FROM t'),
	qr/Gather/, 'queries use a parallel worker');
LatencyTest::sql_counts_are($node, 'a parallel query counts once', 'read 2 errors 0, write 0 errors 0',
	'SELECT count(*) FROM t', 'SELECT count(*) FROM t');
LatencyTest::ask($node, 'ALTER DATABASE postgres RESET debug_parallel_query');

# Errors are not statements.  ROLLBACK is one, and no error.
LatencyTest::sql_counts_are($node, 'errors', 'read 0 errors 3, write 0 errors 2',
	'SELEC', 'SELECT 1 / 0', 'SELECT none FROM t',
	'INSERT INTO log VALUES (1 / (SELECT 0))', 'DROP TABLE none');
LatencyTest::sql_counts_are($node, 'a failing commit', 'read 0 errors 0, write 0 errors 1',
	'INSERT INTO target VALUES (7), (7)');
LatencyTest::sql_counts_are($node, 'a failing COMMIT', 'read 1 errors 0, write 1 errors 1',
	'BEGIN', 'INSERT INTO target VALUES (7), (7)', 'COMMIT', 'SELECT 1');
LatencyTest::sql_counts_are($node, 'a failed block', 'read 2 errors 2, write 2 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', 'SELECT 1 / 0', 'SELECT 1', 'ROLLBACK',
	'BEGIN', 'SELEC', 'COMMIT', 'SELECT 1');
LatencyTest::sql_counts_are($node, 'a failed Query message', 'read 1 errors 1, write 0 errors 0',
	'SELECT 1; SELECT 1 / 0; SELECT 2');
LatencyTest::sql_counts_are($node, 'errors after a savepoint', 'read 1 errors 2, write 2 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', 'SAVEPOINT a', 'SELECT 1 / 0', 'ROLLBACK TO a',
	'SAVEPOINT b', 'SELEC', 'ROLLBACK TO b', 'SELECT 1', 'ROLLBACK TO a', 'RELEASE a', 'COMMIT');
LatencyTest::sql_counts_are($node, 'COMMIT of a failed subtransaction', 'read 1 errors 1, write 2 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', 'SAVEPOINT a', 'SELEC', 'COMMIT', 'SELECT 1');
LatencyTest::sql_counts_are($node, 'errors of the executor after a savepoint', 'read 3 errors 2, write 0 errors 0',
	'BEGIN', 'SAVEPOINT a', 'SELECT 1 / (i - i) FROM t', 'ROLLBACK TO a', 'SELECT catcher()',
	'SELECT 1 / (i - i) FROM t', 'ROLLBACK TO a', 'SELECT 1', 'COMMIT');
LatencyTest::sql_counts_are($node, 'a caught error', 'read 1 errors 0, write 0 errors 0',
	'SELECT catcher()');
LatencyTest::sql_counts_are($node, 'errors caught while planning', 'read 4 errors 1, write 0 errors 0',
	'SELECT i FROM t WHERE i = zero()', 'SELECT 1 / zero()', 'SELECT 1',
	'BEGIN', 'SAVEPOINT a', 'SELECT i FROM t WHERE i = zero()', 'COMMIT');
LatencyTest::sql_counts_are($node, 'a client that leaves', 'read 0 errors 0, write 1 errors 0',
	'BEGIN', 'INSERT INTO log VALUES (1)', 'SAVEPOINT a');
LatencyTest::sql_counts_are($node, 'a terminated session', 'read 0 errors 1, write 0 errors 0',
	'SELECT pg_terminate_backend(pg_backend_pid())');

# A portal that is made and closed, and never executed
sub close_unexecuted
{
	my $socket = $node->raw_connect;
	my $startup = pack('N Z* Z* Z* Z* x', 196608, 'user', scalar getpwuid($>), 'database', 'postgres');
	my $tag = '';

	$socket->send(pack('N', 4 + length $startup) . $startup);
	for my $message (
		[ 'S', '' ],
		[ 'P', pack('Z* Z* n', '', 'SELECT 1', 0) ],
		[ 'B', pack('Z* Z* n n n', '', '', 0, 0, 0) ],
		[ 'C', pack('a Z*', 'P', '') ],
		[ 'S', '' ])
	{
		$socket->send(pack('a N a*', $message->[0], 4 + length $message->[1], $message->[1]));
	}

	# ReadyForQuery answers the start and each Sync.
	for (my $ready = 0; $ready < 3; $ready += $tag eq 'Z')
	{
		$socket->read(my $header, 5) or die 'the server ended the connection';
		($tag, my $length) = unpack('a N', $header);
		$socket->read(my $body, $length - 4) if $length > 4;
		die $body if $tag eq 'E';
	}
	$socket->close;
	return;
}

LatencyTest::counts_are($node, 'a portal that is not executed', 'read 0 errors 0, write 0 errors 0',
	\&close_unexecuted);

# Walsenders execute SQL, too.
LatencyTest::counts_are($node, 'a replication connection', 'read 0 errors 0, write 0 errors 0',
	sub {
		is($node->safe_psql('postgres', 'SELECT 1', replication => 'database'), 1,
			'query in a replication connection');
	});

$node->stop;
done_testing();
