package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity.FlavorCapacity;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderSpec;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderStatus;
import dev.sluice.api.v1alpha1.CapacityProvider.OrchestratedFlavor;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.CapacityDiscovery;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.CapacityDistribution;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.DynamicQuotaOrchestratorSpec;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.ProviderReference;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueStatus;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.Cohort.CohortSpec;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.api.v1beta2.EffectiveQuotas.OrchestratorReference;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.queues.capacity.OrchestrationPlan.Findings;
import dev.sluice.queues.capacity.OrchestrationPlan.Note;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What orchestrators are told, and which quotas they want (docs/dynamic-quota.md). */
class OrchestrationPlanTest {

  private static final int WORLDS = 300;

  private final Map<String, CapacityProvider> providers = new HashMap<>();
  private final List<DynamicQuotaOrchestrator> orchestrators = new ArrayList<>();
  private final Map<String, ClusterQueue> queues = new LinkedHashMap<>();
  private final Map<String, Cohort> cohorts = new LinkedHashMap<>();

  /** Changes of 0.20, section 5: shares are in proportion to nominal quotas. */
  @Test
  void capacityIsAddedUpAndHandedOut() {
    provider("one", Map.of("cpu", "10", "memory", "1Gi"));
    provider("two", Map.of("cpu", "4500m"));
    orchestrate("dqo", "Cohort", "root", of("one", "1"), of("two", "0.5"));
    cohort("root", "", "0");
    cohort("nested", "root", "10");
    queue("a", "root", "10");
    queue("b", "nested", "20");
    queue("elsewhere", "", "20");

    OrchestrationPlan plan = plan();

    assertThat(note(plan, "dqo")).isEqualTo("true Computed true QuotasDistributed");
    assertThat(findings(plan, "dqo").capacity())
        .isEqualTo(
            new Capacity(
                List.of(
                    new FlavorCapacity(
                        "spot",
                        Map.of("cpu", new Quantity("12250m"), "memory", new Quantity("1Gi"))))));
    assertThat(shares(plan))
        .isEqualTo(
            Map.of(
                "Cohort root", "0",
                "Cohort nested", "3062m",
                "ClusterQueue a", "3063m",
                "ClusterQueue b", "6125m"));
  }

  @Test
  void whatIsNotOrchestratedStays() {
    provider("one", Map.of("cpu", "2"));
    orchestrate("dqo", "ClusterQueue", "q", of("one", "1"));
    ClusterQueue queue = queue("q", "", "8");
    ResourceGroup group =
        new ResourceGroup(
            List.of("cpu"),
            List.of(
                flavor("spot", new ResourceQuota("cpu", q("8"), q("3"), q("5"))),
                flavor("other", new ResourceQuota("cpu", q("7"), null, null))));
    queue.setSpec(queue.getSpec().with(List.of(group)));

    EffectiveQuotas wanted = plan().wanted(reference("ClusterQueue", "q"), null);

    assertThat(wanted)
        .isEqualTo(
            new EffectiveQuotas(
                new OrchestratorReference("kueue.x-k8s.io", "DynamicQuotaOrchestrator", "dqo"),
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(
                            flavor("spot", new ResourceQuota("cpu", q("2"), q("3"), q("5"))),
                            flavor("other", new ResourceQuota("cpu", q("7"), null, null)))))));
  }

  @Test
  void aFlavorWithoutCapacityHasNoQuota() {
    provider("one", Map.of());
    orchestrate("dqo", "ClusterQueue", "q", of("one", "1"));
    queue("q", "", "8");

    assertThat(shares(plan())).isEqualTo(Map.of("ClusterQueue q", "0"));
  }

  /** Changes of 0.20, section 5. */
  @Test
  void aProviderThatIsNotReadyLeavesQuotasAsTheyAre() {
    provider("one", Map.of("cpu", "2"));
    orchestrate("dqo", "ClusterQueue", "q", of("one", "1"));
    queue("q", "", "8");
    EffectiveQuotas written = plan().wanted(reference("ClusterQueue", "q"), null);
    current("q", written);
    synchronised("one", false);

    OrchestrationPlan plan = plan();

    assertThat(note(plan, "dqo"))
        .isEqualTo("false ProviderNotReady false EffectiveCapacityNotComputed");
    assertThat(findings(plan, "dqo").keepsCapacity()).isTrue();
    assertThat(plan.wanted(reference("ClusterQueue", "q"), written)).isEqualTo(written);
    providers.clear();
    assertThat(note(plan(), "dqo"))
        .isEqualTo("false ProviderNotReady false EffectiveCapacityNotComputed");
    orchestrators.clear();
    assertThat(plan().wanted(reference("ClusterQueue", "q"), written)).isNull();
  }

  /** Changes of 0.20, section 5. */
  @Test
  void tooMuchToAddUpClearsTheCapacity() {
    provider("wide", amounts("r", 64));
    orchestrate("dqo", "ClusterQueue", "q", of("wide", "1"), of("more", "1"));
    provider("more", Map.of("cpu", "1"));
    queue("q", "", "8");
    assertThat(note(plan(), "dqo"))
        .isEqualTo("false AggregationFailed false EffectiveCapacityNotComputed");
    assertThat(findings(plan(), "dqo").keepsCapacity()).isFalse();
    assertThat(findings(plan(), "dqo").capacity()).isNull();

    flavors("wide", 64);
    provider("more", Map.of("cpu", "1"));
    flavors("many", 128);
    orchestrators.clear();
    orchestrate("dqo", "ClusterQueue", "q", of("many", "1"));
    assertThat(note(plan(), "dqo")).isEqualTo("true Computed true QuotasDistributed");
    orchestrators.clear();
    orchestrate("dqo", "ClusterQueue", "q", of("many", "1"), of("more", "1"));
    assertThat(note(plan(), "dqo"))
        .isEqualTo("false AggregationFailed false EffectiveCapacityNotComputed");
  }

  /** Numbers that no computer has room for, and what isn't one, are borne. */
  @Test
  void largeAndStrangeAmountsAreBorne() {
    provider("one", Map.of("cpu", "9e60"));
    orchestrate("dqo", "ClusterQueue", "q", of("one", "9e60"));
    queue("q", "", "8");
    assertThat(note(plan(), "dqo")).isEqualTo("true Computed true QuotasDistributed");
    assertThat(shares(plan())).isEqualTo(Map.of("ClusterQueue q", (Long.MAX_VALUE - 1) + "m"));

    provider("one", Map.of("cpu", "-1"));
    assertThat(note(plan(), "dqo"))
        .isEqualTo("false AggregationFailed false EffectiveCapacityNotComputed");
    assertThat(findings(plan(), "dqo").computedNote().message())
        .isEqualTo(
            "CapacityProvider \"one\": status.capacity.flavors[spot].resources[cpu]: \"-1\": must"
                + " be a quantity of 0 or more");
    orchestrators.clear();
    orchestrate("dqo", "ClusterQueue", "q", of("one", "-1"));
    assertThat(note(plan(), "dqo"))
        .isEqualTo("false Misconfigured false EffectiveCapacityNotComputed");
  }

  /** Changes of 0.20, section 5. */
  @Test
  void theOrchestratorOfAnAncestorWins() {
    provider("one", Map.of("cpu", "2"));
    orchestrate("below", "ClusterQueue", "q", of("one", "1"));
    orchestrate("above", "Cohort", "root", of("one", "1"));
    orchestrate("again", "Cohort", "root", of("one", "1"));
    queue("q", "root", "8");

    OrchestrationPlan plan = plan();

    assertThat(note(plan, "below"))
        .isEqualTo("true Computed false ConflictingDynamicQuotaOrchestrator");
    assertThat(note(plan, "again"))
        .isEqualTo("true Computed false ConflictingDynamicQuotaOrchestrator");
    assertThat(note(plan, "above")).isEqualTo("true Computed true QuotasDistributed");
    assertThat(plan.quotas().values())
        .extracting(each -> each.orchestratorRef().name())
        .containsExactly("above");
  }

  /** Changes of 0.20, section 5. */
  @Test
  void quotasOfSomebodyElseAreNotTouched() {
    provider("one", Map.of("cpu", "2"));
    orchestrate("dqo", "Cohort", "root", of("one", "1"));
    queue("q", "root", "8");
    queue("other", "root", "8");
    EffectiveQuotas foreign =
        new EffectiveQuotas(new OrchestratorReference("example.com", "Planner", "p"), List.of());
    current("q", foreign);

    OrchestrationPlan plan = plan();

    assertThat(note(plan, "dqo")).isEqualTo("true Computed false EffectiveQuotasConflict");
    assertThat(shares(plan)).isEmpty();
    assertThat(plan.wanted(reference("ClusterQueue", "q"), foreign)).isEqualTo(foreign);
  }

  /** Changes of 0.20, section 5. */
  @Test
  void withoutARootTheCapacityIsOnlyShown() {
    provider("one", Map.of("cpu", "2"));
    DynamicQuotaOrchestrator shows = orchestrate("dqo", "Cohort", "root", of("one", "1"));
    shows.setSpec(new DynamicQuotaOrchestratorSpec(shows.getSpec().capacityDiscovery(), null));
    assertThat(note(plan(), "dqo")).isEqualTo("true Computed");
    shows.setSpec(
        new DynamicQuotaOrchestratorSpec(
            shows.getSpec().capacityDiscovery(),
            new DynamicQuotaOrchestrator.CapacityDistribution(null)));
    assertThat(note(plan(), "dqo")).isEqualTo("true Computed");
    orchestrate("lost", "Cohort", "nowhere", of("one", "1"));
    assertThat(note(plan(), "lost")).isEqualTo("true Computed false Misconfigured");
  }

  @Test
  void aCircleOfCohortsEnds() {
    provider("one", Map.of("cpu", "4"));
    cohort("left", "right", "1");
    cohort("right", "left", "1");
    orchestrate("first", "Cohort", "left", of("one", "1"));
    orchestrate("second", "Cohort", "right", of("one", "1"));

    assertThat(note(plan(), "first")).isEqualTo("true Computed true QuotasDistributed");
    assertThat(note(plan(), "second"))
        .isEqualTo("true Computed false ConflictingDynamicQuotaOrchestrator");
  }

  /** In trees of any shape: the sum is the capacity, and more capacity is never less quota. */
  @Test
  void propertiesHoldInRandomTrees() {
    for (int seed = 0; seed < WORLDS; seed++) {
      Random random = new Random(seed);
      providers.clear();
      orchestrators.clear();
      queues.clear();
      cohorts.clear();
      long capacity = random.nextInt(20_000);
      provider("one", Map.of("cpu", capacity + "m"));
      orchestrate("dqo", "Cohort", "c0", of("one", "1"));
      int count = 1 + random.nextInt(6);
      for (int i = 0; i < count; i++) {
        cohort("c" + i, i == 0 ? "" : "c" + random.nextInt(i), "" + random.nextInt(5));
      }
      for (int i = random.nextInt(8); i >= 0; i--) {
        queue("q" + i, "c" + random.nextInt(count), "" + random.nextInt(40));
      }
      Map<String, Long> shares = amounts(plan());
      long nominal =
          queues.values().stream().mapToLong(each -> nominal(each.getSpec().resourceGroups())).sum()
              + cohorts.values().stream()
                  .mapToLong(each -> nominal(each.getSpec().resourceGroups()))
                  .sum();
      assertThat(shares.values().stream().mapToLong(Long::longValue).sum())
          .as("seed %d", seed)
          .isEqualTo(nominal == 0 ? 0 : capacity);
      provider("one", Map.of("cpu", (capacity + random.nextInt(50)) + "m"));
      Map<String, Long> ofMore = amounts(plan());
      shares.forEach(
          (name, share) -> assertThat(ofMore.get(name)).as(name).isGreaterThanOrEqualTo(share));
    }
  }

  private static long nominal(List<ResourceGroup> groups) {
    return Long.parseLong(
        groups.getFirst().flavors().getFirst().resources().getFirst().nominalQuota().toString());
  }

  private static Map<String, Long> amounts(OrchestrationPlan plan) {
    return shares(plan).entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                each -> dev.sluice.api.Quantities.amount("cpu", each.getValue())));
  }

  private OrchestrationPlan plan() {
    return OrchestrationPlan.of(
        orchestrators,
        name -> Optional.ofNullable(providers.get(name)),
        new NominalQuotaTree(queues.values(), cohorts.values()));
  }

  private static Findings findings(OrchestrationPlan plan, String name) {
    Findings findings = plan.findings().get(name);
    if (findings == null) {
      throw new AssertionError("nothing of " + name);
    }
    return findings;
  }

  private static String note(OrchestrationPlan plan, String name) {
    Findings findings = findings(plan, name);
    return text(findings.computedNote())
        + findings.distributed().map(note -> " " + text(note)).orElse("");
  }

  private static String text(Note note) {
    return note.status() + " " + note.reason();
  }

  private static Map<String, String> shares(OrchestrationPlan plan) {
    return plan.quotas().entrySet().stream()
        .collect(
            Collectors.toMap(
                each -> each.getKey().kind() + " " + each.getKey().name(),
                each ->
                    each.getValue()
                        .resourceGroups()
                        .getFirst()
                        .flavors()
                        .getFirst()
                        .resources()
                        .getFirst()
                        .nominalQuota()
                        .toString()));
  }

  private static QuotaReference reference(String kind, String name) {
    return new QuotaReference(kind, name);
  }

  private static Quantity q(String text) {
    return new Quantity(text);
  }

  private static FlavorQuotas flavor(String name, ResourceQuota quota) {
    return new FlavorQuotas(name, List.of(quota));
  }

  private static ProviderReference of(String name, String multiplier) {
    return new ProviderReference(name, q(multiplier));
  }

  private static Map<String, String> amounts(String stem, int count) {
    return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> stem + i, i -> "1"));
  }

  private void provider(String name, Map<String, String> amounts) {
    Map<String, Quantity> resources = new HashMap<>();
    amounts.forEach((resource, amount) -> resources.put(resource, q(amount)));
    provider(name, List.of(new FlavorCapacity("spot", resources)));
  }

  private void flavors(String name, int count) {
    provider(
        name,
        IntStream.range(0, count).mapToObj(i -> new FlavorCapacity("f" + i, Map.of())).toList());
  }

  private void provider(String name, List<FlavorCapacity> flavors) {
    CapacityProvider provider = new CapacityProvider();
    provider.setMetadata(new ObjectMetaBuilder().withName(name).build());
    provider.setSpec(
        new CapacityProviderSpec(
            flavors.stream().map(each -> new OrchestratedFlavor(each.name())).toList(),
            "example.com/any",
            null));
    provider.setStatus(new CapacityProviderStatus(new Capacity(flavors), List.of()));
    providers.put(name, provider);
    synchronised(name, true);
  }

  private void synchronised(String name, boolean synchronised) {
    CapacityProvider provider = providers.get(name);
    if (provider == null) {
      throw new AssertionError("no provider " + name);
    }
    provider.setStatus(
        new CapacityProviderStatus(
            provider.getStatus().capacity(),
            List.of(
                new ConditionBuilder()
                    .withType("CapacitySynchronized")
                    .withStatus(synchronised ? "True" : "False")
                    .withReason(synchronised ? "Synchronized" : "SourceUnavailable")
                    .withMessage("")
                    .build())));
  }

  private DynamicQuotaOrchestrator orchestrate(
      String name, String kind, String root, ProviderReference... from) {
    DynamicQuotaOrchestrator orchestrator = new DynamicQuotaOrchestrator();
    orchestrator.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withCreationTimestamp("2026-01-01T00:00:0" + orchestrators.size() + "Z")
            .build());
    orchestrator.setSpec(
        new DynamicQuotaOrchestratorSpec(
            new CapacityDiscovery(List.of(from)), new CapacityDistribution(reference(kind, root))));
    orchestrators.add(orchestrator);
    return orchestrator;
  }

  private static List<ResourceGroup> groups(String nominal) {
    return List.of(
        new ResourceGroup(
            List.of("cpu"),
            List.of(flavor("spot", new ResourceQuota("cpu", q(nominal), null, null)))));
  }

  private void cohort(String name, String parent, String nominal) {
    Cohort cohort = new Cohort();
    cohort.setMetadata(new ObjectMetaBuilder().withName(name).build());
    cohort.setSpec(new CohortSpec(null, parent, groups(nominal)));
    cohorts.put(name, cohort);
  }

  private ClusterQueue queue(String name, String cohort, String nominal) {
    ClusterQueue queue = new ClusterQueue();
    queue.setMetadata(new ObjectMetaBuilder().withName(name).build());
    queue.setSpec(spec(cohort).with(groups(nominal)));
    queues.put(name, queue);
    return queue;
  }

  @SuppressWarnings("NullAway") // absent fields have defaults
  private static ClusterQueueSpec spec(String cohort) {
    return new ClusterQueueSpec(null, null, cohort, null, null, null, null, null, null, null, null);
  }

  @SuppressWarnings("NullAway") // absent fields have defaults
  private void current(String name, @Nullable EffectiveQuotas effective) {
    Collection<ClusterQueue> all = queues.values();
    all.stream()
        .filter(each -> each.getMetadata().getName().equals(name))
        .forEach(
            each ->
                each.setStatus(
                    new ClusterQueueStatus(null, null, effective, null, null, null, null, null)));
  }
}
