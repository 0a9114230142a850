-- How somebody has ended a conflict: what became of the money. Null while it is open; an open one keeps its order.
alter table outbox add column resolution text;
alter table outbox add column resolved_at timestamptz;
alter table outbox add column resolved_by text;
alter table outbox add column resolution_reason text;

-- Nobody was asked to end those that there are: they must not keep their orders, nor raise an alert.
update outbox set
  resolution = 'IGNORED', resolved_at = now(), resolved_by = 'upgrade',
  resolution_reason = 'It was detected before conflicts were kept open.'
where payment_id >= E'\x02';

create index outbox_open_conflicts on outbox (written_at, order_row, payment_id)
  where payment_id >= E'\x02' and resolved_at is null;
