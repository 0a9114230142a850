-- The sessions of the console, which all instances share. The columns are those of Spring Session. Ids are
-- texts, because a parameter of a statement is one: an index on the type char would not be used.
create table console_session (
  primary_id            text   not null primary key,
  session_id            text   not null unique,
  creation_time         bigint not null, -- times in milliseconds since 1970
  last_access_time      bigint not null,
  max_inactive_interval integer not null, -- seconds
  expiry_time           bigint not null,
  principal_name        text
) with (fillfactor = 50);
create index console_session_by_expiry on console_session (expiry_time);
create index console_session_by_user on console_session (principal_name);

create table console_session_attributes (
  session_primary_id text  not null references console_session on delete cascade,
  attribute_name     text  not null,
  attribute_bytes    bytea not null,
  primary key (session_primary_id, attribute_name)
);
