package dev.sluice.accounting;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodRecord.Amounts;
import dev.sluice.accounting.PodRecord.Deletion;
import dev.sluice.accounting.PodRecord.PodEligibility;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which terminating pods count, with and without the gate {@code FastQuotaReleaseInPodIntegration}:
 * random pods of a single pod's Workload, of a group, of a set and of a Job, against rules that are
 * written down once more, from docs/pod-accounting.md. {@code -Dsluice.property.steps=N} plays N
 * steps.
 */
class FastReleaseTest {

  private static final int STEPS_OF_A_WORLD = 200;
  private static final int PODS = 3;

  /** What a Workload is made of. */
  private enum Kind {
    SINGLE,
    GROUP,
    SET,
    JOB
  }

  /** Pods and Workloads of each kind, and what ought to be charged for them. */
  private static final class World {
    private final boolean fast;
    private final Random random;
    private final KnownWorkloads workloads = new KnownWorkloads();
    private final PodAccounts accounts;
    private final Map<Kind, CachedWorkload> known = new HashMap<>();
    private final Map<Kind, Map<UUID, PodRecord>> pods = new HashMap<>();
    private final Map<Kind, Boolean> held = new HashMap<>();
    private Instant now = Instant.parse("2026-03-01T12:00:00Z");

    World(boolean fast, long seed) {
      this.fast = fast;
      this.random = new Random(seed);
      this.accounts =
          new PodAccounts(
              workloads,
              new AdmissionComparison(AdmittedRequests.PLAIN, any -> false, fast),
              account -> {});
      for (Kind kind : Kind.values()) {
        pods.put(kind, new TreeMap<>());
        set(kind, given(kind).admitted("spot", PODS).get());
      }
    }

    private static UUID uid(Kind kind, int number) {
      return new UUID(kind.ordinal(), number);
    }

    private static GivenWorkload given(Kind kind) {
      GivenWorkload workload = workloadOf(job()).named(kind.name());
      List<Owner> members = new ArrayList<>();
      for (int i = 0; i < PODS; i++) {
        members.add(new Owner("v1", "Pod", "p" + i, uid(kind, i).toString()));
      }
      return switch (kind) {
        case SINGLE -> workload.ownedBy(Optional.of(members.getFirst()), List.of());
        case GROUP -> workload.ownedBy(Optional.empty(), members);
        case SET ->
            workload.ownedBy(
                Optional.empty(), List.of(new Owner("apps/v1", "StatefulSet", "s", "uid-of-s")));
        case JOB ->
            workload.ownedBy(Optional.of(new Owner("batch/v1", "Job", "j", "uid-of-j")), List.of());
      };
    }

    private void set(Kind kind, CachedWorkload workload) {
      CachedWorkload before = known.put(kind, workload);
      workloads.add(workload);
      accounts.changed(before, workload);
    }

    private CachedWorkload known(Kind kind) {
      return Objects.requireNonNull(known.get(kind));
    }

    private Map<UUID, PodRecord> podsOf(Kind kind) {
      return Objects.requireNonNull(pods.get(kind));
    }

    private Account account(Kind kind) {
      return accounts.accountOf(known(kind));
    }

    private void step() {
      Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
      UUID uid = uid(kind, random.nextInt(kind == Kind.SINGLE ? 1 : PODS + 2));
      Map<UUID, PodRecord> pods = podsOf(kind);
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> {
          if (!pods.containsKey(uid) && (kind != Kind.GROUP || uid.getLeastSignificantBits() < 3)) {
            seen(kind, pod(kind, uid, Optional.empty()));
          }
        }
        case 3, 4, 5 -> {
          PodRecord pod = pods.get(uid);
          if (pod != null && pod.deletion().isEmpty()) {
            long grace = List.of(5L, 30L, 3600L).get(random.nextInt(3));
            seen(kind, pod(kind, uid, Optional.of(new Deletion(now.plusSeconds(grace), grace))));
          }
        }
        case 6, 7 -> {
          pods.remove(uid);
          accounts.records().gone(uid);
        }
        case 8 -> now = now.plus(Duration.ofSeconds(1 + random.nextInt(60)));
        default -> finishOrStart(kind);
      }
    }

    private void finishOrStart(Kind kind) {
      boolean finishes = !known(kind).finished();
      if (finishes) {
        held.put(kind, true);
        set(kind, given(kind).admitted("spot", PODS).finished().get());
      } else {
        held.put(kind, false);
        set(kind, given(kind).admitted("spot", PODS).get());
      }
    }

    private static PodRecord pod(Kind kind, UUID uid, Optional<Deletion> deletion) {
      List<Owner> owners =
          switch (kind) {
            case SINGLE, GROUP -> List.of();
            case SET -> List.of(new Owner("apps/v1", "StatefulSet", "s", "uid-of-s"));
            case JOB -> List.of(new Owner("batch/v1", "Job", "j", "uid-of-j"));
          };
      return new PodRecord(
          uid,
          "team",
          "p" + uid.getLeastSignificantBits(),
          "n1",
          new Amounts(new TreeMap<>(), new TreeMap<>(), List.of()),
          owners,
          new PodEligibility(false, true, 30, Optional.empty()),
          deletion);
    }

    private void seen(Kind kind, PodRecord pod) {
      podsOf(kind).put(pod.uid(), pod);
      accounts.records().seen(pod);
    }

    /** Whether a pod has given its quota back. */
    private boolean released(Kind kind, PodRecord pod) {
      return fast && kind != Kind.JOB && pod.deletion().isPresent();
    }

    /** Compares what is charged and found with the rules. */
    private void check(long step) {
      for (Kind kind : Kind.values()) {
        Account account = account(kind);
        accounts.settle(account);
        List<PodRecord> all = List.copyOf(podsOf(kind).values());
        boolean holds = all.stream().anyMatch(pod -> !released(kind, pod));
        held.computeIfPresent(kind, (same, before) -> before && holds);
        boolean isHeld = held.getOrDefault(kind, false);
        assertThat(accounts.isHeld(known(kind).id()))
            .as("step %d: %s is charged after its end", step, kind)
            .isEqualTo(isHeld);
        int charged = isHeld || !known(kind).finished() ? PODS : 0;
        assertThat(accounts.find(account, accounts.podsOf(account), now).beyond())
            .as("step %d: pods of %s beyond %d", step, kind, charged)
            .isEqualTo(Math.max(0, counted(kind, all, charged) - charged));
      }
    }

    private int counted(Kind kind, List<PodRecord> all, int charged) {
      List<PodRecord> ending =
          all.stream()
              .filter(pod -> pod.deletion().isPresent())
              .filter(pod -> now.isBefore(pod.deletion().get().due().plusSeconds(10)))
              .toList();
      if (fast && kind != Kind.JOB) {
        return all.size() - ending.size();
      }
      int soon =
          (int) ending.stream().filter(pod -> pod.deletion().get().graceSeconds() <= 30).count();
      return all.size() - (soon <= charged ? soon : 0);
    }
  }

  /** Integrations, Pod, "Active", and configuration, FastQuotaReleaseInPodIntegration. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void terminatingPodsCountAsTheGateSays(boolean fast) {
    long steps = Long.getLong("sluice.property.steps", 4_000);
    long seed = Long.getLong("sluice.property.seed", 1);
    for (long played = 0; played < steps; seed++) {
      World world = new World(fast, seed);
      for (int i = 0; i < STEPS_OF_A_WORLD; i++, played++) {
        world.step();
        world.check(seed * STEPS_OF_A_WORLD + i);
      }
    }
  }
}
