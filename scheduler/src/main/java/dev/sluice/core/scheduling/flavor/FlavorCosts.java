package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.CycleStatistics.CostRule;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Flavor.Pace;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorAttempt.Cost;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What flavors cost, and in which order they are tried therefore (docs/prices.md#flavors-by-cost).
 */
public final class FlavorCosts {

  private static final double MILLIS_PER_HOUR = 3_600_000;

  /** As many digits as a person reads. */
  private static final int DECIMALS = 4;

  private final Function<String, Map<String, BigDecimal>> prices;
  private final Starts starts;

  /** When quota is expected to be free. */
  public interface Starts {

    /** A time that never comes, or that nobody knows. */
    long NEVER = Long.MAX_VALUE;

    /**
     * When a queue is expected to have amounts of pairs within its nominal quota, in microseconds
     * since the epoch; {@link #NEVER} if nobody knows.
     */
    long expected(ClusterQueueCache queue, int[] pairs, long[] amounts);
  }

  /**
   * Costs by prices.
   *
   * @param prices what a unit of each resource costs for an hour, by name of the flavor; empty if
   *     the flavor has no price
   */
  public FlavorCosts(Function<String, Map<String, BigDecimal>> prices, Starts starts) {
    this.prices = prices;
    this.starts = starts;
  }

  /**
   * Costs as one Workload asks for them.
   *
   * @param untilMicros until when it waits for a cheaper flavor, in microseconds since the epoch;
   *     {@link Long#MIN_VALUE} if it doesn't
   */
  public record Search(FlavorCosts costs, long untilMicros) {

    /** What counts for a request; null if its costs don't. */
    @Nullable Search of(ResourceDemand demand) {
      return count(demand) ? this : null;
    }

    /** Whether the Workload waits. */
    boolean waits() {
      return untilMicros != Long.MIN_VALUE;
    }

    /** See {@link FlavorCosts#rank}. */
    Ranking rank(
        ResourceDemand demand,
        ResourceDemand.Bundle bundle,
        ClusterQueueCache.Group group,
        Map<String, Flavor> flavors) {
      return costs.rank(demand, bundle, group, flavors);
    }

    /** See {@link Starts#expected}. */
    long expected(ClusterQueueCache queue, int[] pairs, long[] amounts) {
      return costs.starts.expected(queue, pairs, amounts);
    }
  }

  /** Whether costs count for a request in its queue: by its queue's order, or by its own limit. */
  private static boolean count(ResourceDemand demand) {
    return isCheapestFirst(demand) || demand.costRules().flatMap(CostRules::maxPrice).isPresent();
  }

  /** Whether the queue of a request tries flavors in the order of cost. */
  static boolean isCheapestFirst(ResourceDemand demand) {
    return demand.queue().spec().rules().cheapest().isPresent();
  }

  /**
   * A flavor that has a price.
   *
   * @param perHour what a bundle of pod sets costs there for an hour
   * @param key what the order compares
   * @param cost what people read
   */
  record Priced(BigDecimal perHour, double key, Cost cost) {}

  /**
   * The flavors of a resource group for a bundle of pod sets.
   *
   * @param order their indexes, in the order in which they are tried
   * @param priced what the bundle costs in each, by index; empty without a price
   */
  record Ranking(List<Integer> order, List<Optional<Priced>> priced) {

    /** Whether a flavor is known to be cheaper than another one. */
    boolean isCheaper(int flavor, int than) {
      return priced.get(flavor).isPresent()
          && priced.get(than).isPresent()
          && priced.get(flavor).get().key() < priced.get(than).get().key();
    }

    /** What is paid for an hour with the bundle in a flavor, on top of what is paid before. */
    BigDecimal with(int flavor, BigDecimal before) {
      return priced.get(flavor).map(each -> before.add(each.perHour())).orElse(before);
    }

    /**
     * Why a flavor costs more than the request may; empty if it doesn't, or has no price.
     *
     * @param before what the flavors cost for an hour that were chosen before
     */
    Optional<FlavorRejection> dearerThanMax(ResourceDemand demand, int flavor, BigDecimal before) {
      BigDecimal all = with(flavor, before);
      return priced.get(flavor).isEmpty()
          ? Optional.empty()
          : demand
              .costRules()
              .flatMap(CostRules::maxPrice)
              .filter(max -> all.compareTo(max) > 0)
              .map(max -> new FlavorRejection.DearerThanMax(all, max));
    }
  }

  /**
   * The flavors of a group that a bundle may use as far as costs tell, by index, in the order in
   * which they are tried: all as they are listed, unless costs count for the request.
   *
   * @param before what the request pays for an hour already
   * @return what it pays then, with the bundle in that flavor
   */
  public SequencedMap<Integer, BigDecimal> affordable(
      ResourceDemand demand,
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      Map<String, Flavor> flavors,
      BigDecimal before) {
    SequencedMap<Integer, BigDecimal> affordable = new LinkedHashMap<>();
    Ranking ranking = count(demand) ? rank(demand, bundle, group, flavors) : null;
    for (int at = 0; at < group.flavors().size(); at++) {
      int flavor = ranking == null ? at : ranking.order().get(at);
      if (ranking == null || ranking.dearerThanMax(demand, flavor, before).isEmpty()) {
        affordable.put(flavor, ranking == null ? before : ranking.with(flavor, before));
      }
    }
    return affordable;
  }

  /**
   * The rules of cost that mattered for an assignment; none where costs don't count.
   *
   * @param attempts of the assignment
   */
  public static Set<CostRule> rulesUsed(
      ResourceDemand demand, Supplier<List<FlavorAttempt>> attempts) {
    if (!count(demand)) {
      return Set.of();
    }
    Set<CostRule> used = EnumSet.noneOf(CostRule.class);
    List<FlavorAttempt> tried = attempts.get();
    for (FlavorAttempt attempt : tried) {
      for (FlavorRejection rejection : attempt.flavorRejections()) {
        switch (rejection) {
          case FlavorRejection.DearerThanMax any -> used.add(CostRule.MAX_PRICE);
          case FlavorRejection.WaitsForCheaper any -> used.add(CostRule.MAX_DELAY_FOR_CHEAPER);
          case FlavorRejection.CheaperFits any when isPassedOver(demand.queue(), attempt, tried) ->
              used.add(CostRule.CHEAPEST);
          default -> {}
        }
      }
    }
    return used;
  }

  /** Whether a flavor is listed before one that the same pods get. */
  private static boolean isPassedOver(
      ClusterQueueCache queue, FlavorAttempt dearerAttempt, List<FlavorAttempt> tried) {
    for (ClusterQueueCache.Group group : queue.groups()) {
      int place = group.flavors().indexOf(dearerAttempt.flavor());
      if (place >= 0) {
        return tried.stream()
            .filter(attempt -> attempt.podSet().equals(dearerAttempt.podSet()))
            .filter(attempt -> attempt.mode() == AssignmentMode.FIT)
            .anyMatch(attempt -> group.flavors().indexOf(attempt.flavor()) > place);
      }
    }
    return false;
  }

  /** Ranks the flavors of a group for a bundle. */
  private Ranking rank(
      ResourceDemand demand,
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      Map<String, Flavor> flavors) {
    Optional<Duration> run = demand.costRules().flatMap(CostRules::run);
    List<Optional<Priced>> priced = new ArrayList<>(group.flavors().size());
    for (String name : group.flavors()) {
      Map<String, BigDecimal> perUnit = prices.apply(name);
      Flavor flavor = flavors.get(name);
      priced.add(
          perUnit.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  priced(
                      perHour(bundle, group, perUnit),
                      run,
                      flavor == null ? Pace.USUAL : flavor.pace().orElse(Pace.USUAL))));
    }
    return new Ranking(order(demand, priced), priced);
  }

  /**
   * What a run costs in a flavor.
   *
   * @param perHour what all that it has there costs for an hour
   * @param run how long it is expected to take on a flavor of speed 1; empty if nobody knows
   */
  public static Cost cost(BigDecimal perHour, Optional<Duration> run, Pace pace) {
    return priced(perHour, run, pace).cost();
  }

  private static BigDecimal perHour(
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      Map<String, BigDecimal> perUnit) {
    BigDecimal perHour = BigDecimal.ZERO;
    for (String resource : group.resources()) {
      Long amount = bundle.amounts().get(resource);
      BigDecimal price = perUnit.get(resource);
      if (amount != null && price != null) {
        perHour = perHour.add(price.multiply(BigDecimal.valueOf(amount)));
      }
    }
    return perHour;
  }

  private static Priced priced(BigDecimal perHour, Optional<Duration> run, Pace pace) {
    // What costs nothing costs nothing however long it takes.
    double key = perHour.signum() == 0 ? 0 : perHour.doubleValue() * hours(run, pace);
    Optional<BigDecimal> toFinish =
        run.isEmpty() || !Double.isFinite(key)
            ? Optional.empty()
            : Optional.of(shown(BigDecimal.valueOf(key)));
    return new Priced(perHour, key, new Cost(shown(perHour), toFinish));
  }

  /**
   * The hours that are paid until a run is finished that begins anew after each interruption, if
   * these come at random; an hour's work at the flavor's speed if nobody knows how long it runs.
   */
  private static double hours(Optional<Duration> run, Pace pace) {
    double speed = pace.speed().doubleValue();
    if (run.isEmpty()) {
      return 1 / speed;
    }
    double hours = run.get().toMillis() / MILLIS_PER_HOUR / speed;
    double rate = pace.interruptionsPerHour().doubleValue();
    // StrictMath gives the same on all machines, so that a journal is replayed with the same order.
    return rate == 0 ? hours : StrictMath.expm1(rate * hours) / rate;
  }

  /** Small amounts keep digits that matter, large ones lose those that don't. */
  private static BigDecimal shown(BigDecimal amount) {
    BigDecimal rounded =
        amount.abs().compareTo(BigDecimal.ONE) < 0
            ? amount.round(new MathContext(DECIMALS, RoundingMode.HALF_UP))
            : amount.setScale(DECIMALS, RoundingMode.HALF_UP);
    BigDecimal plain = rounded.stripTrailingZeros();
    return plain.scale() < 0 ? plain.setScale(0) : plain;
  }

  /** Cheaper ones first, those without a price last; equal ones as they are listed. */
  private static List<Integer> order(ResourceDemand demand, List<Optional<Priced>> priced) {
    List<Integer> order = new ArrayList<>(priced.size());
    for (int i = 0; i < priced.size(); i++) {
      order.add(i);
    }
    if (isCheapestFirst(demand)) {
      order.sort(
          Comparator.comparing((Integer index) -> priced.get(index).isEmpty())
              .thenComparing(index -> priced.get(index).map(Priced::key).orElse(0.0)));
    }
    return order;
  }
}
