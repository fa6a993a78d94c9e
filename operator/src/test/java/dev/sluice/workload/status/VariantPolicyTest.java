package dev.sluice.workload.status;

import static dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode.RETAIN_FIRST_ADMISSION;
import static dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode.TRY_PREFERRED_FLAVORS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.status.VariantPolicy.Changes;
import dev.sluice.workload.status.VariantPolicy.Gate;
import dev.sluice.workload.status.VariantPolicy.Variant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** scheduling-semantics.md, section 13; 32 flavors: changes of 0.20, section 3. */
class VariantPolicyTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Gate BLOCKED = new Gate(true, true, Optional.empty());
  private static final Gate FREE = new Gate(true, false, Optional.empty());
  private static final List<String> FLAVORS = List.of("reserved", "on-demand", "spot");

  private final VariantPolicy retain =
      new VariantPolicy(FLAVORS, RETAIN_FIRST_ADMISSION, Optional.empty());
  private final VariantPolicy preferred =
      new VariantPolicy(FLAVORS, TRY_PREFERRED_FLAVORS, Optional.empty());

  @Test
  void aParentWithoutVariantsGetsOnePerFlavor() {
    Changes changes = retain.decide(List.of(), NOW);

    assertThat(changes.missing()).containsExactlyElementsOf(FLAVORS);
    assertThat(changes.winner()).isEmpty();
    assertThat(changes.again()).isEmpty();
  }

  @Test
  void variantsOfFlavorsThatTheQueueLostAreDeleted() {
    Changes changes =
        retain.decide(List.of(waiting("gone"), waiting("spot"), waiting("reserved")), NOW);

    assertThat(changes.obsolete()).containsExactly("v-gone");
    assertThat(changes.missing()).containsExactly("on-demand");
  }

  @Test
  void aSecondVariantOfAFlavorIsDeletedNeverTheAdmittedOne() {
    Variant second = new Variant("z", "spot", true, Optional.of(NOW), FREE);

    assertThat(retain.decide(List.of(waiting("spot"), second), NOW).obsolete())
        .containsExactly("v-spot");
    assertThat(retain.decide(List.of(second, waiting("spot")), NOW).obsolete())
        .containsExactly("v-spot");
  }

  @Test
  void theFirstAdmissionDeactivatesAllOthers() {
    Changes changes =
        retain.decide(List.of(waiting("reserved"), admitted("on-demand", 0), waiting("spot")), NOW);

    assertThat(changes.winner()).contains("v-on-demand");
    assertThat(changes.activity())
        .containsExactlyInAnyOrderEntriesOf(Map.of("v-reserved", false, "v-spot", false));
  }

  @Test
  void ofTwoAdmissionsThatCrossedTheEarlierOneCounts() {
    Changes changes = retain.decide(List.of(admitted("reserved", 1), admitted("spot", 2)), NOW);

    assertThat(changes.winner()).contains("v-spot");
    assertThat(changes.activity()).containsExactlyEntriesOf(Map.of("v-reserved", false));
  }

  @Test
  void preferredFlavorsStayQueuedAndLaterOnesDoNot() {
    Changes changes =
        preferred.decide(
            List.of(waiting("reserved"), admitted("on-demand", 0), waiting("spot")), NOW);

    assertThat(changes.activity()).containsExactlyEntriesOf(Map.of("v-spot", false));
    assertThat(preferred.migrates("on-demand", "reserved")).isTrue();
    assertThat(preferred.migrates("on-demand", "spot")).isFalse();
    assertThat(preferred.migrates("on-demand", "on-demand")).isFalse();
    assertThat(retain.migrates("on-demand", "reserved")).isFalse();
  }

  @Test
  void nobodyMovesToAFlavorAfterTheLastAcceptableOne() {
    VariantPolicy limited =
        new VariantPolicy(FLAVORS, TRY_PREFERRED_FLAVORS, Optional.of("reserved"));
    Changes changes =
        limited.decide(
            List.of(waiting("reserved"), waiting("on-demand"), admitted("spot", 0)), NOW);

    assertThat(changes.activity()).containsExactlyEntriesOf(Map.of("v-on-demand", false));
    assertThat(limited.migrates("spot", "reserved")).isTrue();
    assertThat(limited.migrates("spot", "on-demand")).isFalse();
  }

  @Test
  void withoutAnAdmissionAllAreActive() {
    VariantPolicy limited =
        new VariantPolicy(FLAVORS, TRY_PREFERRED_FLAVORS, Optional.of("reserved"));
    List<Variant> variants = List.of(waiting("reserved"), inactive("on-demand"), inactive("spot"));

    for (VariantPolicy policy : List.of(retain, preferred, limited)) {
      assertThat(policy.decide(variants, NOW).activity())
          .containsExactlyInAnyOrderEntriesOf(Map.of("v-on-demand", true, "v-spot", true));
    }
  }

  @Test
  void gatesOpenInFlavorOrderOnePerFiveMinutes() {
    Changes first = preferred.decide(List.of(gated("reserved"), gated("on-demand")), NOW);
    assertThat(first.opened()).contains("v-reserved");
    assertThat(first.again()).isEmpty();

    List<Variant> opened = List.of(opened("reserved", NOW), gated("on-demand"));
    Instant due = NOW.plusSeconds(300);
    Changes early = preferred.decide(opened, due.minusMillis(1));
    assertThat(early.opened()).isEmpty();
    assertThat(early.again()).contains(due);
    assertThat(preferred.decide(opened, due).opened()).contains("v-on-demand");
  }

  @Test
  void aVariantThatWasNeverEvaluatedStopsTheSearch() {
    Variant unknown = new Variant("n", "reserved", true, Optional.empty(), Gate.NEW);

    assertThat(preferred.decide(List.of(unknown, gated("on-demand")), NOW).opened()).isEmpty();
    assertThat(preferred.decide(List.of(waiting("reserved"), gated("on-demand")), NOW).opened())
        .contains("v-on-demand");
  }

  @Test
  void noGateOpensForAVariantThatIsDeactivated() {
    List<Variant> variants = List.of(admitted("reserved", 0), gated("on-demand"), gated("spot"));

    assertThat(preferred.decide(variants, NOW).opened()).isEmpty();
    assertThat(preferred.decide(variants, NOW).again()).isEmpty();
  }

  @Test
  void anOpeningInTheFutureDelaysNoLongerThanTheRule() {
    List<Variant> variants = List.of(opened("reserved", Instant.MAX), gated("on-demand"));

    assertThat(preferred.decide(variants, NOW).again()).contains(NOW.plusSeconds(300));
  }

  @Test
  void anUnknownLastFlavorLimitsNothing() {
    VariantPolicy policy = new VariantPolicy(FLAVORS, TRY_PREFERRED_FLAVORS, Optional.of("gone"));

    assertThat(policy.migrates("spot", "on-demand")).isTrue();
  }

  /**
   * Whatever is stored: at most one variant keeps an admission, one decision is enough, and the
   * order in which variants are read makes no difference.
   */
  @Test
  void decisionsOnAnythingThatIsStored() {
    Random random = new Random(13);
    List<String> flavors = IntStream.range(0, 32).mapToObj(i -> "f" + i).toList();
    for (int world = 0; world < 2_000; world++) {
      boolean retains = random.nextBoolean();
      VariantPolicy policy =
          new VariantPolicy(
              flavors,
              retains ? RETAIN_FIRST_ADMISSION : TRY_PREFERRED_FLAVORS,
              random.nextBoolean() ? Optional.of("f" + random.nextInt(34)) : Optional.empty());
      List<Variant> variants = new ArrayList<>();
      for (int i = random.nextInt(40); i > 0; i--) {
        variants.add(any(random, i));
      }

      Changes changes = policy.decide(variants, NOW);
      List<Variant> written = written(variants, changes);
      Changes again = policy.decide(written, NOW);
      assertThat(again.activity()).isEmpty();
      assertThat(again.obsolete()).isEmpty();
      assertThat(again.winner()).isEqualTo(changes.winner());
      assertThat(again.missing()).isEqualTo(changes.missing());
      assertThat(changes.missing()).hasSize(32 - written.size());
      if (retains && changes.winner().isPresent()) {
        assertThat(written.stream().filter(Variant::active)).hasSize(1);
      }

      List<Variant> shuffled = new ArrayList<>(variants);
      Collections.shuffle(shuffled, random);
      Changes other = policy.decide(shuffled, NOW);
      assertThat(other.activity()).isEqualTo(changes.activity());
      assertThat(other.winner()).isEqualTo(changes.winner());
      assertThat(other.opened()).isEqualTo(changes.opened());
      assertThat(other.obsolete()).containsExactlyInAnyOrderElementsOf(changes.obsolete());
    }
  }

  private static Variant any(Random random, int number) {
    return new Variant(
        "w" + number,
        "f" + random.nextInt(36),
        random.nextBoolean(),
        random.nextInt(4) == 0
            ? Optional.of(NOW.minusSeconds(random.nextInt(5)))
            : Optional.empty(),
        new Gate(
            random.nextBoolean(),
            random.nextBoolean(),
            random.nextBoolean()
                ? Optional.of(NOW.minusSeconds(random.nextInt(600)))
                : Optional.empty()));
  }

  private static List<Variant> written(List<Variant> variants, Changes changes) {
    Map<String, Boolean> activity = new HashMap<>(changes.activity());
    return variants.stream()
        .filter(variant -> !changes.obsolete().contains(variant.name()))
        .map(
            variant ->
                new Variant(
                    variant.name(),
                    variant.flavor(),
                    activity.getOrDefault(variant.name(), variant.active()),
                    variant.admittedAt(),
                    variant.gate()))
        .toList();
  }

  private static Variant waiting(String flavor) {
    return new Variant("v-" + flavor, flavor, true, Optional.empty(), FREE);
  }

  private static Variant inactive(String flavor) {
    return new Variant("v-" + flavor, flavor, false, Optional.empty(), FREE);
  }

  private static Variant admitted(String flavor, int secondsAgo) {
    return new Variant(
        "v-" + flavor, flavor, true, Optional.of(NOW.minusSeconds(secondsAgo)), FREE);
  }

  private static Variant gated(String flavor) {
    return new Variant("v-" + flavor, flavor, true, Optional.empty(), BLOCKED);
  }

  private static Variant opened(String flavor, Instant at) {
    return new Variant(
        "v-" + flavor, flavor, true, Optional.empty(), new Gate(true, true, Optional.of(at)));
  }
}
