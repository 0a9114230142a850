-- The input topics of which most records were unusable, so that the intake stopped before them. A row per
-- topic stays when the intake goes on.
create table intake_stop (
  topic               text        collate "C" not null primary key,
  began_at            timestamptz not null,
  -- When an instance last found the topic's records unusable; it looks every few seconds.
  seen_at             timestamptz not null,
  -- How many of the records looked at are unusable, and the first of those that are not taken in.
  unusable            integer     not null,
  records             integer     not null,
  first_position      text        not null,
  first_fault         text        not null,
  -- Until when unusable records become dead letters nevertheless, as an operator decided.
  dead_letters_until  timestamptz
) with (fillfactor = 50);
