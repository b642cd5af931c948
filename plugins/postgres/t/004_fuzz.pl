# Every SQL function with random and hostile arguments: an error or a lease
# that obeys its limits, no crash, nothing left.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SluiceTest;

my $rounds = $ENV{SLUICE_FUZZ_ROUNDS} // 2000;
my $seed = $ENV{SLUICE_FUZZ_SEED} // int(rand(2**31));
srand($seed);
note("SLUICE_FUZZ_SEED=$seed SLUICE_FUZZ_ROUNDS=$rounds");

my %values = (
	text => [
		'NULL', q{''}, q{'hold'}, q{'rate'}, q{'duration'}, q{'full'}, q{'stock'},
		q{'glide'}, q{'HOLD'}, q{' hold'}, q{repeat('x', 63)}, q{repeat('x', 64)},
		q{repeat('x', 1000000)}, q{E'\x01\n'}, q{'a''b'}, q{U&'\00e9\+01f600'}
	],
	interval => [
		'NULL', q{'0'}, q{'1 us'}, q{'1 ms'}, q{'1 s'}, q{'600 s'}, q{'600.000001 s'},
		q{'-1 s'}, q{'1 day'}, q{'1 day -86399 s'}, q{'-1 day 86401 s'}, q{'1 month'},
		q{'178000000 years'}, q{'-178000000 years'}, q{'2147483647 days'},
		q{'-2147483648 days'}, q{'-640511947 days'},
		q{'2147483647 days 2562047788 hours'}, q{'infinity'}, q{'-infinity'}
	],
	bigint => [
		'NULL', '0', '1', '-1', '65535', '65536', '1000000', '1000000000000',
		'1000000000001', '2147483648', '9223372036854775807', q{'-9223372036854775808'}
	],
	integer => [ 'NULL', '0', '1', '60', '61', '-1', '2147483647', q{'-2147483648'} ],
	boolean => [ 'NULL', 'true', 'false' ]);

my %functions = (
	set_checkpoint_pace => [qw(text text interval bigint interval boolean)],
	set_sync_gap => [qw(interval text interval boolean)],
	defer_checkpoint => [qw(bigint text interval boolean)],
	start_checkpoint => [qw(text interval bigint interval boolean)],
	request_checkpoint => [],
	clear_lease => [qw(bigint)],
	clear_leases => [qw(text)],
	statement_latency_intervals => [qw(integer)],
	statement_latency_summary => [qw(interval)],
	statement_latency_buckets => [qw(interval)]);

sub random_value
{
	my ($type) = @_;
	my @choices = @{ $values{$type} };
	return $choices[ int(rand(@choices)) ] . "::$type" if rand() < 0.9 || $type ne 'bigint';
	return int(rand(2**62)) . '::bigint';
}

my $node = SluiceTest::new_primary('fuzz');
my @names = sort keys %functions;
my $script = '';
for (1 .. $rounds)
{
	my $name = $names[ int(rand(@names)) ];
	my $arguments = join(', ', map { random_value($_) } @{ $functions{$name} });
	$script .= "SELECT sluice.$name($arguments);\n";
}

my ($stdout, $stderr);
my $result = $node->psql(
	'postgres', $script,
	stdout => \$stdout,
	stderr => \$stderr,
	on_error_stop => 0);
is($result, 0, 'the session survives');
my $errors = () = $stderr =~ /ERROR:/g;
my $hints = () = $stderr =~ /HINT:/g;
is($hints, $errors, 'each refusal says what to do');
cmp_ok($errors, '>', $rounds / 10, "$errors of $rounds calls were refused");
cmp_ok($errors, '<', $rounds, 'and some were not');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM sluice.leases
		WHERE time_left > '10 min' OR time_left < '0' OR length(owner) NOT BETWEEN 1 AND 63
		   OR wal_bytes > 2::bigint << 30 OR sync_gap > '60 s'
		   OR rate_bytes_per_second NOT BETWEEN 65536 AND 1000000000000}),
	'0', 'every lease obeys the limits');
$node->safe_psql('postgres', "SELECT sluice.clear_leases(owner) FROM sluice.leases");
is($node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases'), '0', 'nothing is left');

# A refused call leaves no lease: each one alone, on an empty table
for my $name (@names)
{
	for my $bad (map { "SELECT sluice.$name(" . join(', ', map { random_value($_) } @{ $functions{$name} }) . ')' } 1 .. 10)
	{
		my ($ret) = $node->psql('postgres', $bad);
		my $leases = $node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases');
		ok($ret == 0 || $leases eq '0', "no lease after a refusal: " . substr($bad, 0, 100));
		$node->safe_psql('postgres', "SELECT sluice.clear_leases(owner) FROM sluice.leases");
	}
}
unlike(slurp_file($node->logfile), qr/(?:PANIC|TRAP|terminated by signal)/, 'nothing crashed');
$node->safe_psql('postgres', 'CHECKPOINT');
$node->stop;
done_testing();
