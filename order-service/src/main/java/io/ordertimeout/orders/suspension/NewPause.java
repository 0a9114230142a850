package io.ordertimeout.orders.suspension;

import io.ordertimeout.orders.suspension.Suspension.PlacedBy;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A pause to be placed; its components are those of {@link Suspension}.
 *
 * @param channel the channel whose orders to pause; null for all orders
 * @param endsAt when it ends by itself; null for never
 */
public record NewPause(
    @Nullable String channel,
    PlacedBy placedByKind,
    String placedBy,
    String reason,
    boolean movesDeadlines,
    @Nullable Instant endsAt) {}
