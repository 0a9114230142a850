-- Pauses, which operators and the circuit breaker place, and holds, which the service places, in one
-- table: while one is in force, none of the orders that it concerns is cancelled.
create table suspension (
  id              bigint generated always as identity,
  -- The orders that it concerns: those of a channel, of a shard, or all.
  channel         text,
  shard           integer,
  placed_by_kind  text        not null
    check (placed_by_kind in ('OPERATOR', 'BREAKER', 'SERVICE')),
  placed_by       text        not null,
  reason          text        not null,
  -- Whether deadlines move by the part of it that their orders lived through.
  moves_deadlines boolean     not null,
  began_at        timestamptz not null default clock_timestamp(),
  -- When it ends by itself; null for never.
  ends_at         timestamptz,
  -- When it was ended before that.
  ended_at        timestamptz,
  ended_by        text,
  primary key (id),
  check (channel is null or shard is null),
  check (ends_at > began_at)
);

-- Pauses keep their numbers.
insert into suspension overriding system value
select id, channel, null, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at,
  ended_at, ended_by
from expiry_pause;

-- Holds get new ones. The audit log names purged pauses by number, so no number is given again.
insert into suspension overriding system value
select
  (select case when is_called then last_value else 0 end from expiry_pause_id_seq)
    + row_number() over (order by id),
  null, shard, 'SERVICE', 'service', detail, false, placed_at, null, lifted_at, null
from expiry_hold;

select setval(
  pg_get_serial_sequence('suspension', 'id'),
  1
    + (select case when is_called then last_value else 0 end from expiry_pause_id_seq)
    + (select count(*) from expiry_hold),
  false);

-- For those in force, and for those that ended after the creation of an order.
create index suspension_by_end on suspension (coalesce(ended_at, ends_at, 'infinity'));

-- The circuit breakers of several instances may trip at the same time; one pause is enough.
create unique index suspension_of_breaker on suspension (placed_by_kind)
  where placed_by_kind = 'BREAKER' and ended_at is null;

drop view interruption;
drop table expiry_pause, expiry_hold;
