package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import dev.sluice.metrics.MetricsScrape.GaugeSource;
import dev.sluice.queues.ReservationCalendar.Keeper;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.function.Supplier;

/** Which CapacityReservations and MaintenanceWindows keep capacity at present. */
public final class ReservationGauges implements GaugeSource {

  private static final Family CURRENT =
      Family.of(
          "sluice_reservation_current",
          "Whether a CapacityReservation or a MaintenanceWindow keeps capacity now",
          "kind",
          "name");

  private final Supplier<List<Keeper>> keepers;
  private final Supplier<ReplicaRole> role;
  private final CustomLabels customLabels;

  /**
   * Creates the gauges.
   *
   * @param keepers the objects that keep capacity now or later
   */
  public ReservationGauges(
      Supplier<List<Keeper>> keepers, Supplier<ReplicaRole> role, CustomLabels customLabels) {
    this.keepers = keepers;
    this.role = role;
    this.customLabels = customLabels;
  }

  @Override
  public MetricSnapshots collect() {
    GaugeSet gauges = new GaugeSet(role.get(), customLabels);
    for (Keeper keeper : keepers.get()) {
      gauges.set(CURRENT, keeper.current() ? 1 : 0, keeper.kind(), keeper.name());
    }
    return gauges.snapshots();
  }
}
