-- The shop's own database. An order and the event about it are written by one transaction, so neither exists without the other.
create table shop_order (
  id text primary key,
  state text not null default 'PENDING',
  payment_id text
);

-- The events that Kafka has not acknowledged yet, in the order in which they are sent.
create table outbox (
  position bigint generated always as identity primary key,
  topic text not null,
  order_id text not null,
  event jsonb not null
);
