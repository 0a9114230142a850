package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.order.OrderChanges.Made;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.OutboxStore.Warning;
import io.ordertimeout.orders.order.PaymentConflicts.Conflict;
import io.ordertimeout.orders.order.PaymentConflicts.PaymentWithoutEffect;
import io.ordertimeout.orders.order.Publication;
import io.ordertimeout.orders.suspension.Interruptions.Interruption;
import io.ordertimeout.orders.suspension.ParkedOrders.Parked;
import io.ordertimeout.orders.suspension.PaymentAttempts.Attempt;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the tables contain of one order and its past.
 *
 * @param order the order
 * @param registeredAt when its first event was stored, if that is known
 * @param extendedUntil the end of the last interruption or change that has moved its deadline
 * @param paidAt when the payment that settled it was made
 * @param closedAt when it was closed elsewhere
 * @param closeReason why it was closed elsewhere
 * @param actions what operators did to it, the earliest first
 * @param replays the dead letters of it that operators have replayed, the earliest first
 * @param parked what parks it now; null if it is not parked
 * @param interruptions the interruptions while it was open, by their ends
 * @param conflicts the payments that met it after it was cancelled or closed
 * @param withoutEffect the payments that changed nothing
 * @param attempts its payment attempts
 * @param changes what the shop has changed in it, the earliest first
 * @param warnings the warnings that were written
 * @param publication when and where its cancellation was published; null if it was not
 */
record OrderFacts(
    OrderView order,
    @Nullable Instant registeredAt,
    @Nullable Instant extendedUntil,
    @Nullable Instant paidAt,
    @Nullable Instant closedAt,
    @Nullable String closeReason,
    List<OperatorAction> actions,
    List<OperatorAction> replays,
    @Nullable Parked parked,
    List<Interruption> interruptions,
    List<Conflict> conflicts,
    List<PaymentWithoutEffect> withoutEffect,
    List<Attempt> attempts,
    List<Made> changes,
    List<Warning> warnings,
    @Nullable Publication publication) {}
