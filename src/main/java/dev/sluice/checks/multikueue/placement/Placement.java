package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.dispatch.Nomination;
import dev.sluice.checks.multikueue.dispatch.Situation;
import dev.sluice.checks.multikueue.placement.Local.Check;
import dev.sluice.checks.multikueue.placement.Remote.Copy;
import dev.sluice.checks.multikueue.placement.Remote.Difference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Decides what becomes of a Workload between manager and workers (contract: scheduling, section
 * 16). The first step that has something to do decides; the rest is for the next look.
 *
 * @param dispatcher says who is asked
 * @param workerLostTimeout how long a worker that is lost keeps what runs there
 */
public record Placement(Dispatcher dispatcher, Duration workerLostTimeout) {

  /**
   * The plan for one Workload.
   *
   * @param configured the workers it may go to, in the order of the MultiKueueConfig
   * @param remotes how it stands in each worker, by name; also in those that it may not go to
   */
  public Plan decide(
      Local local, List<String> configured, Map<String, Remote> remotes, Instant now) {
    return new Look(local, configured, new TreeMap<>(remotes), now).plan();
  }

  /**
   * The plan for one Workload that holds quota of the manager's own nodes: it runs there once all
   * its other checks are Ready, and what is left of it elsewhere is withdrawn.
   *
   * @param cluster the name of the manager as a worker
   */
  public Plan decideHere(Local local, String cluster, Map<String, Remote> remotes, Instant now) {
    Look look = new Look(local, List.of(), new TreeMap<>(remotes), now);
    boolean ordinary =
        local.over()
            || !local.reserving()
            || local.job() instanceof Local.Sendable.No
            || local.cluster().isPresent();
    if (ordinary) {
      return look.plan();
    }
    Plan withdrawn = look.withdrawn(remotes.keySet());
    boolean runs = local.check() == Check.PENDING && local.othersReady() && !local.evicted();
    if (!runs) {
      return withdrawn;
    }
    List<Action> actions = new ArrayList<>(withdrawn.actions());
    actions.add(new Action.RunHere(cluster));
    return new Plan(actions, withdrawn.lookAgain());
  }

  /** One look at one Workload. */
  private final class Look {

    private final Local local;
    private final List<String> configured;
    private final SortedMap<String, Remote> remotes;
    private final Instant now;

    Look(Local local, List<String> configured, SortedMap<String, Remote> remotes, Instant now) {
      this.local = local;
      this.configured = configured;
      this.remotes = remotes;
      this.now = now;
    }

    Plan plan() {
      if (local.over()) {
        return withdrawn(remotes.keySet());
      }
      if (local.job() instanceof Local.Sendable.No(String why) && local.check() != Check.REJECTED) {
        return Plan.of(new Action.Reject(why));
      }
      if (!local.reserving()) {
        return withdrawn(remotes.keySet());
      }
      if (local.check() == Check.RETRY || local.check() == Check.REJECTED) {
        return Plan.nothing();
      }
      return finished()
          .or(this::evicted)
          .or(this::different)
          .or(this::running)
          .or(this::lost)
          .orElseGet(() -> local.evicted() ? sentBack() : dispatched());
    }

    /** Ends what is elsewhere; who can't be asked now is asked again later. */
    private Plan withdrawn(Set<String> clusters) {
      List<Action> actions = new ArrayList<>();
      boolean unreachable = false;
      for (String cluster : clusters) {
        Remote remote = remotes.get(cluster);
        if (remote != null && remote.copy().isPresent()) {
          if (remote.connected()) {
            actions.add(new Action.Withdraw(cluster));
          } else {
            unreachable = true;
          }
        }
      }
      return new Plan(
          actions, unreachable ? Optional.of(now.plus(workerLostTimeout)) : Optional.empty());
    }

    private Optional<Plan> finished() {
      return choose(copy -> copy.finished().map(any -> Instant.MIN))
          .flatMap(
              cluster -> seen(cluster).flatMap(Copy::finished).map(end -> ended(cluster, end)));
    }

    private Plan ended(String cluster, Remote.Ending ending) {
      if (!ending.outOfSync()) {
        return Plan.of(new Action.Finish(cluster, ending.reason(), ending.message()));
      }
      return local.check() == Check.READY
          ? Plan.of(new Action.Retry(says(cluster, "is out of step: " + ending.message())))
          : Plan.nothing();
    }

    /** Where it runs counts, if it runs anywhere: what others stopped is only to be withdrawn. */
    private Optional<Plan> evicted() {
      return local
          .cluster()
          .map(
              name -> Optional.of(name).filter(it -> seen(it).flatMap(Copy::evictedAt).isPresent()))
          .orElseGet(() -> earliest(Copy::evictedAt))
          .flatMap(
              cluster -> {
                if (local.evicted()) {
                  return Optional.of(Plan.of(new Action.Mirror(cluster)));
                }
                return local.check() == Check.READY
                    ? Optional.of(Plan.of(new Action.Retry(says(cluster, "sent it back"))))
                    : Optional.empty();
              });
    }

    private Optional<Plan> different() {
      List<Action> actions = new ArrayList<>();
      for (String cluster : remotes.keySet()) {
        switch (seen(cluster).map(Copy::difference).orElse(Difference.NONE)) {
          case NONE -> {}
          case PATCHABLE -> actions.add(new Action.Align(cluster));
          case OTHER -> actions.add(new Action.Withdraw(cluster));
        }
      }
      return actions.isEmpty()
          ? Optional.empty()
          : Optional.of(new Plan(actions, Optional.empty()));
    }

    /** Once it is decided where it runs, an admission elsewhere doesn't count any more. */
    private Optional<Plan> running() {
      Optional<String> decided = local.cluster().filter(any -> local.check() == Check.READY);
      return decided
          .map(
              name ->
                  Optional.of(name).filter(it -> seen(it).flatMap(Copy::admittedAt).isPresent()))
          .orElseGet(() -> choose(Copy::admittedAt))
          .map(
              cluster -> {
                Action here =
                    local.evicted() ? new Action.StopThere(cluster) : new Action.Run(cluster);
                List<Action> actions = new ArrayList<>(withdrawn(others(cluster)).actions());
                actions.add(here);
                return new Plan(actions, Optional.of(now.plus(workerLostTimeout)));
              });
    }

    private Set<String> others(String cluster) {
      Set<String> others = new TreeSet<>(remotes.keySet());
      others.remove(cluster);
      return others;
    }

    /** It ran in a worker, and isn't seen to do so any more. */
    private Optional<Plan> lost() {
      if (local.check() != Check.READY) {
        return Optional.empty();
      }
      String cluster = local.cluster().orElse("");
      Remote remote = remotes.get(cluster);
      if (remote != null && !remote.connected()) {
        Instant end = remote.lostSince().orElse(now).plus(workerLostTimeout);
        return Optional.of(
            now.isBefore(end)
                ? new Plan(withdrawn(others(cluster)).actions(), Optional.of(end))
                : Plan.of(new Action.Retry(says(cluster, "is lost"))));
      }
      boolean gone = remote == null || remote.copy().isEmpty();
      return Optional.of(
          gone ? Plan.of(new Action.Retry(says(cluster, "has it no more"))) : Plan.nothing());
    }

    /** Nobody is asked while it is sent back: its quota is given away. */
    private Plan sentBack() {
      Plan withdrawn = withdrawn(remotes.keySet());
      List<Action> actions = new ArrayList<>(withdrawn.actions());
      actions.add(new Action.Settle());
      return new Plan(actions, withdrawn.lookAgain());
    }

    private Plan dispatched() {
      Set<String> connected =
          remotes.entrySet().stream()
              .filter(entry -> entry.getValue().connected())
              .map(Map.Entry::getKey)
              .collect(Collectors.toSet());
      Nomination said =
          dispatcher.nominate(
              new Situation(
                  configured,
                  connected,
                  local.nominated(),
                  local.lastRound(),
                  local.othersReady(),
                  local.fitting(),
                  now));
      List<Action> actions = new ArrayList<>();
      if (!said.clusters().equals(local.nominated())) {
        actions.add(new Action.Nominate(said.clusters()));
      }
      remotes.forEach(
          (cluster, remote) -> {
            if (remote.connected()) {
              boolean wanted = said.clusters().contains(cluster);
              if (wanted && remote.copy().isEmpty()) {
                actions.add(new Action.Offer(cluster));
              } else if (!wanted && remote.copy().isPresent()) {
                actions.add(new Action.Withdraw(cluster));
              }
            }
          });
      return Gates.with(new Plan(actions, said.lookAgain()), asked(said), now);
    }

    private Map<String, Remote> asked(Nomination said) {
      SortedMap<String, Remote> asked = new TreeMap<>(remotes);
      asked.keySet().retainAll(said.clusters());
      return asked;
    }

    /** The worker that it runs in, if this is true of its copy there; otherwise the earliest. */
    private Optional<String> choose(Function<Copy, Optional<Instant>> since) {
      return local
          .cluster()
          .filter(name -> seen(name).flatMap(since).isPresent())
          .or(() -> earliest(since));
    }

    private Optional<String> earliest(Function<Copy, Optional<Instant>> since) {
      return remotes.keySet().stream()
          .filter(name -> seen(name).flatMap(since).isPresent())
          .min(Comparator.comparing(name -> seen(name).flatMap(since).orElse(Instant.MAX)));
    }

    /** What is known of a copy for sure: what was last seen of a lost worker isn't. */
    private Optional<Copy> seen(String cluster) {
      return Optional.ofNullable(remotes.get(cluster))
          .filter(Remote::connected)
          .flatMap(Remote::copy);
    }

    private String says(String cluster, String what) {
      return "Worker cluster \"" + cluster + "\" " + what;
    }
  }
}
