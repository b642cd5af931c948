# What the tests of statement latency have in common.

package LatencyTest;

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Observing must not be counted, nor change what is observed.
my $unobserved = '-c sluice.statement_latency=off';

# A server with short intervals, as a test waits for two to close at each count.
# What it does in between has 30 s, then.
sub new_server
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 1);
	$node->append_conf(
		'postgresql.conf', q{
shared_preload_libraries = 'sluice'
sluice.statement_latency_interval = 500ms
max_prepared_transactions = 4
autovacuum = off
});
	$node->start;
	ask($node, 'CREATE EXTENSION sluice');
	return $node;
}

# The answer to a query that is not counted.
sub ask
{
	my ($node, $query) = @_;
	local $ENV{PGOPTIONS} = $unobserved;
	return $node->safe_psql('postgres', $query);
}

# Wait until a query, which is not counted, answers with true.
sub wait_for
{
	my ($node, $query) = @_;
	local $ENV{PGOPTIONS} = $unobserved;
	$node->poll_query_until('postgres', $query)
	  or die "timed out waiting for: $query";
	return;
}

# Wait until the present interval is closed; returns the start of the next.
sub next_interval
{
	my ($node) = @_;
	my $now = ask($node, 'SELECT clock_timestamp()');
	my $end = "max(interval_start) + current_setting('sluice.statement_latency_interval')::interval";

	wait_for($node, "SELECT $end > '$now' FROM sluice.statement_latency");
	return ask($node, "SELECT $end FROM sluice.statement_latency");
}

# What was counted in closed intervals since a point in time, as
# "read COUNT errors COUNT, write COUNT errors COUNT"; undefined if the machine
# was too slow for the test: some of them are not kept any more.
sub counted_since
{
	my ($node, $since) = @_;
	my $counted = ask(
		$node, qq{
SELECT string_agg(format('%s %s errors %s', class, count, errors), ', ' ORDER BY class)
FROM (SELECT class, sum(count) AS count, sum(errors) AS errors
      FROM sluice.statement_latency WHERE interval_start >= '$since'
      GROUP BY class) counted});
	my $is_kept = ask($node, "SELECT min(interval_start) <= '$since' FROM sluice.statement_latency");

	return $is_kept eq 't' ? $counted : undef;
}

# Do something, and compare what was counted; again, where the machine was too slow.
sub counts_are
{
	my ($node, $name, $expected, $action) = @_;

	for (1 .. 5)
	{
		my $since = next_interval($node);

		$action->();
		next_interval($node);
		my $counted = counted_since($node, $since);
		next if !defined $counted;
		is($counted, $expected, $name);
		return;
	}
	die "$name: five times, the machine was too slow";
}

# The same for SQL, of which errors are expected; each argument is sent as a
# Query message of its own, in one session.
sub sql_counts_are
{
	my ($node, $name, $expected, @queries) = @_;
	my @arguments = map { ('-c', $_) } @queries;

	counts_are(
		$node, $name,
		$expected,
		sub {
			my ($stdout, $stderr);
			IPC::Run::run(
				[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), @arguments ],
				'>', \$stdout, '2>', \$stderr);
			note($stderr) if $stderr;
		});
	return;
}

1;
