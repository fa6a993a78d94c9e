package dev.sluice.ledger;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.Attempt.Part;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Attempts that have ended as rows for an export (docs/ledger.md#attempts-of-a-namespace). */
final class AttemptRows {

  private AttemptRows() {}

  /** What was used of a resource of a flavor, in amounts times milliseconds. */
  private static final class Sum {
    private long most;
    private BigDecimal reserved = BigDecimal.ZERO;
    private BigDecimal run = BigDecimal.ZERO;
    private BigDecimal lost = BigDecimal.ZERO;
  }

  /**
   * A page of rows.
   *
   * @param next after which attempt the following page begins; empty with the last page
   */
  static ObjectNode page(List<Attempt> attempts, String next) {
    ObjectNode page = JsonMappers.JSON.createObjectNode();
    ArrayNode rows = page.putArray("rows");
    for (Attempt attempt : attempts) {
      sums(attempt).forEach((pair, sum) -> add(rows.addObject(), attempt, pair, sum));
    }
    return page.put("continue", next);
  }

  private static Map<FlavorResource, Sum> sums(Attempt attempt) {
    Map<FlavorResource, Sum> sums = new LinkedHashMap<>();
    for (Part part : attempt.parts()) {
      Sum sum =
          sums.computeIfAbsent(
              new FlavorResource(part.amount().flavor(), part.amount().resource()),
              any -> new Sum());
      Instant to = part.to().orElse(part.from());
      long amount = part.amount().amount();
      sum.most = Math.max(sum.most, amount);
      sum.reserved = sum.reserved.add(used(amount, part.from(), part.from(), to));
      sum.run =
          attempt
              .times()
              .readyAt()
              .map(ready -> used(amount, ready, part.from(), to))
              .orElse(BigDecimal.ZERO)
              .add(sum.run);
      sum.lost =
          attempt
              .lostAt()
              .map(lost -> used(amount, lost, part.from(), to))
              .orElse(BigDecimal.ZERO)
              .add(sum.lost);
    }
    return sums;
  }

  private static BigDecimal used(long amount, Instant since, Instant from, Instant to) {
    Duration used = Duration.between(Attempt.later(since, from), to);
    return BigDecimal.valueOf(amount).multiply(BigDecimal.valueOf(Math.max(0, used.toMillis())));
  }

  private static void add(ObjectNode row, Attempt attempt, FlavorResource flavorResource, Sum sum) {
    Holder holder = attempt.holder();
    Ending ending = attempt.ending().orElseThrow();
    row.put("workloadUid", AttemptReader.uid(attempt.workload()))
        .put("attempt", attempt.number())
        .put("namespace", holder.namespace())
        .put("workload", holder.workload())
        .put("localQueue", holder.localQueue())
        .put("clusterQueue", holder.clusterQueue())
        .put("cohortPath", holder.cohortPath())
        .put("ownerKind", holder.ownerKind())
        .put("ownerName", holder.ownerName());
    ObjectNode labels = row.putObject("labels");
    holder.labels().entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(label -> labels.put(label.getKey(), label.getValue()));
    row.put("flavor", flavorResource.flavor())
        .put("resource", flavorResource.resource())
        .put("amount", LedgerStore.units(flavorResource.resource(), BigDecimal.valueOf(sum.most)))
        .put("reservedAt", attempt.times().reservedAt().toString());
    attempt.times().readyAt().ifPresent(ready -> row.put("readyAt", ready.toString()));
    row.put("endedAt", ending.at().toString())
        .put("outcome", ending.outcome().text())
        .put("reason", ending.reason())
        .put("reserved", seconds(flavorResource, sum.reserved))
        .put("run", seconds(flavorResource, sum.run))
        .put("waited", seconds(flavorResource, sum.reserved.subtract(sum.run)))
        .put("lost", seconds(flavorResource, sum.lost));
  }

  private static String seconds(FlavorResource flavorResource, BigDecimal amountMillis) {
    return LedgerStore.units(flavorResource.resource(), amountMillis.movePointLeft(3));
  }
}
