package dev.sluice.queues.capacity;

import static dev.sluice.queues.capacity.OrchestrationPlan.Note.isFalse;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.ProviderReference;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.api.v1beta2.EffectiveQuotas.OrchestratorReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What all orchestrators together want (docs/dynamic-quota.md): pure.
 *
 * @param findings what each orchestrator is told, by its name
 * @param quotas the effective quotas to be written
 * @param kept queues and cohorts whose effective quotas stay as they are
 */
record OrchestrationPlan(
    Map<String, Findings> findings,
    Map<QuotaReference, EffectiveQuotas> quotas,
    Set<QuotaReference> kept) {

  private static final Comparator<DynamicQuotaOrchestrator> BY_AGE =
      Comparator.<DynamicQuotaOrchestrator, String>comparing(
              each -> String.valueOf(each.getMetadata().getCreationTimestamp()))
          .thenComparing(each -> each.getMetadata().getName());

  /** Copies the maps and the set. */
  OrchestrationPlan {
    findings = Map.copyOf(findings);
    quotas = Map.copyOf(quotas);
    kept = Set.copyOf(kept);
  }

  /**
   * A condition.
   *
   * @param status whether it is True
   * @param reason the reason as the API spells it
   * @param message for people
   */
  record Note(boolean status, String reason, String message) {

    static Note isFalse(String reason, String message) {
      return new Note(false, reason, message);
    }
  }

  /**
   * The status of an orchestrator.
   *
   * @param capacity the effective capacity; null if there is none
   * @param keepsCapacity whether the capacity that was computed before stays
   * @param computedNote the condition {@code EffectiveCapacityComputed}
   * @param distributed the condition {@code Distributed}; empty if there is nothing to distribute
   */
  record Findings(
      @Nullable Capacity capacity,
      boolean keepsCapacity,
      Note computedNote,
      Optional<Note> distributed) {}

  /** The effective quotas that a queue or cohort should have; {@code current} where they stay. */
  @Nullable EffectiveQuotas wanted(QuotaReference reference, @Nullable EffectiveQuotas current) {
    EffectiveQuotas planned = quotas.get(reference);
    if (planned != null) {
      return planned;
    }
    return current == null || kept.contains(reference) || !isOrchestrator(current.orchestratorRef())
        ? current
        : null;
  }

  /** Whether a reference names an orchestrator of this API, rather than one of somebody else. */
  private static boolean isOrchestrator(OrchestratorReference reference) {
    return reference.apiGroup().equals(ApiVersions.GROUP)
        && reference.kind().equals(DynamicQuotaOrchestrator.KIND);
  }

  /** What these orchestrators want of these queues and cohorts. */
  static OrchestrationPlan of(
      Collection<DynamicQuotaOrchestrator> orchestrators,
      Function<String, Optional<CapacityProvider>> providers,
      NominalQuotaTree tree) {
    List<DynamicQuotaOrchestrator> byAge =
        orchestrators.stream().filter(each -> !each.isMarkedForDeletion()).sorted(BY_AGE).toList();
    Planning planning = new Planning(tree);
    for (DynamicQuotaOrchestrator each : byAge) {
      planning.findings.put(
          each.getMetadata().getName(), planning.findings(each, byAge, providers));
    }
    return new OrchestrationPlan(planning.findings, planning.quotas, planning.kept);
  }

  private static Optional<QuotaReference> root(DynamicQuotaOrchestrator orchestrator) {
    return orchestrator.getSpec() == null || orchestrator.getSpec().capacityDistribution() == null
        ? Optional.empty()
        : Optional.ofNullable(orchestrator.getSpec().capacityDistribution().subtreeRootQuotaRef());
  }

  /** A plan in the making. */
  private static final class Planning {

    private final NominalQuotaTree tree;
    private final Map<QuotaReference, Set<QuotaReference>> subtrees = new HashMap<>();
    private final Map<String, Findings> findings = new HashMap<>();
    private final Map<QuotaReference, EffectiveQuotas> quotas = new HashMap<>();
    private final Set<QuotaReference> kept = new HashSet<>();

    Planning(NominalQuotaTree tree) {
      this.tree = tree;
    }

    Findings findings(
        DynamicQuotaOrchestrator orchestrator,
        List<DynamicQuotaOrchestrator> byAge,
        Function<String, Optional<CapacityProvider>> providers) {
      CapacitySum.Result sum = CapacitySum.of(providers(orchestrator), providers);
      Optional<Note> distributed =
          root(orchestrator)
              .map(rootReference -> distributed(orchestrator, rootReference, byAge, sum));
      return switch (sum) {
        case CapacitySum.Result.Computed computed ->
            new Findings(
                computed.shown(),
                false,
                new Note(true, "Computed", "The capacity of all providers is added up"),
                distributed);
        case CapacitySum.Result.Failed(String reason, String message) ->
            new Findings(
                null, !reason.equals("AggregationFailed"), isFalse(reason, message), distributed);
      };
    }

    private static List<ProviderReference> providers(DynamicQuotaOrchestrator orchestrator) {
      return orchestrator.getSpec() == null || orchestrator.getSpec().capacityDiscovery() == null
          ? List.of()
          : orchestrator.getSpec().capacityDiscovery().providers();
    }

    private Note distributed(
        DynamicQuotaOrchestrator orchestrator,
        QuotaReference rootReference,
        List<DynamicQuotaOrchestrator> byAge,
        CapacitySum.Result sum) {
      if (!tree.has(rootReference)) {
        return isFalse(
            "Misconfigured",
            "spec.capacityDistribution.subtreeRootQuotaRef: %s \"%s\" doesn't exist"
                .formatted(rootReference.kind(), rootReference.name()));
      }
      Optional<DynamicQuotaOrchestrator> winner = winner(orchestrator, rootReference, byAge);
      if (winner.isPresent()) {
        return isFalse(
            "ConflictingDynamicQuotaOrchestrator",
            "DynamicQuotaOrchestrator \"%s\" distributes to %s"
                .formatted(
                    winner.get().getMetadata().getName(),
                    root(winner.get())
                        .filter(rootReference::equals)
                        .map(same -> "the same root, and is older")
                        .orElse("a root above")));
      }
      Set<QuotaReference> subtree = subtree(rootReference);
      Optional<QuotaReference> foreign =
          subtree.stream()
              .filter(
                  each ->
                      tree.current(each)
                          .filter(quota -> !isOrchestrator(quota.orchestratorRef()))
                          .isPresent())
              .min(Comparator.comparing(QuotaReference::kind).thenComparing(QuotaReference::name));
      if (foreign.isPresent()) {
        kept.addAll(subtree);
        OrchestratorReference other =
            tree.current(foreign.get()).map(EffectiveQuotas::orchestratorRef).orElseThrow();
        return isFalse(
            "EffectiveQuotasConflict",
            "the effective quotas of %s \"%s\" are those of %s \"%s\""
                .formatted(foreign.get().kind(), foreign.get().name(), other.kind(), other.name()));
      }
      if (!(sum instanceof CapacitySum.Result.Computed computed)) {
        kept.addAll(subtree);
        return isFalse(
            "EffectiveCapacityNotComputed",
            "The quotas stay as they are until the effective capacity can be computed");
      }
      OrchestratorReference reference =
          new OrchestratorReference(
              ApiVersions.GROUP,
              DynamicQuotaOrchestrator.KIND,
              orchestrator.getMetadata().getName());
      Map<QuotaReference, EffectiveQuotas> shares =
          tree.shares(subtree, computed.flavors(), reference);
      quotas.putAll(shares);
      return new Note(
          true, "QuotasDistributed", "%d queues and cohorts have shares".formatted(shares.size()));
    }

    /** The orchestrator that has the root: that of an ancestor, or the oldest at this root. */
    private Optional<DynamicQuotaOrchestrator> winner(
        DynamicQuotaOrchestrator orchestrator,
        QuotaReference rootReference,
        List<DynamicQuotaOrchestrator> byAge) {
      boolean older = true;
      List<DynamicQuotaOrchestrator> winners = new ArrayList<>();
      for (DynamicQuotaOrchestrator other : byAge) {
        if (other.equals(orchestrator)) {
          older = false;
          continue;
        }
        Optional<QuotaReference> above =
            root(other).filter(tree::has).filter(it -> subtree(it).contains(rootReference));
        if (above.isPresent() && (older || !subtree(rootReference).contains(above.get()))) {
          winners.add(other);
        }
      }
      return winners.stream().findFirst();
    }

    private Set<QuotaReference> subtree(QuotaReference rootReference) {
      return subtrees.computeIfAbsent(rootReference, tree::subtree);
    }
  }
}
