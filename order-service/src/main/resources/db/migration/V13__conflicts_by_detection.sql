-- For the list of conflicts, the latest first. Conflicts are rare, so is their insertion.
create index payment_conflict_by_detection on payment_conflict (detected_at, order_id, payment_id);
