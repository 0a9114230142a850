-- Takes longer than the time-outs of the service's connections in the test that runs it.
select pg_sleep(3);
