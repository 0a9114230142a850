-- The generation of the consumer group that the fleet uses. All instances move to the next one together
-- when the group's coordinator does not work, so a group that cannot be joined does not end the service.
create table consumer_group_generation (
  -- The configured id; the first generation uses it as it is.
  group_id        text collate "C" not null,
  generation      integer     not null default 1 check (generation > 0),
  began_at        timestamptz not null default clock_timestamp(),
  -- When an instance last found the group working; null if none has since the generation began.
  worked_at       timestamptz,
  -- How many generations in a row have never worked.
  failed_in_a_row integer     not null default 0,
  primary key (group_id)
) with (fillfactor = 50);
