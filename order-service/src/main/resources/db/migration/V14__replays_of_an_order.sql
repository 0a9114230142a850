-- For the dead letters of an order that were replayed.
create index operator_action_replays on operator_action ((after ->> 'orderId'), id)
  where action = 'REPLAY_DEAD_LETTER';
