-- Takes longer than the time-outs of the service's connections in the test that runs it, and as long as the
-- test holds the lock.
select pg_sleep(3);
select pg_advisory_xact_lock(900);
