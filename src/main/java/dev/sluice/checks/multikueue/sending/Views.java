package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.checks.multikueue.capacity.Fitting;
import dev.sluice.checks.multikueue.link.ClusterLinks;
import dev.sluice.checks.multikueue.link.LinkState;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.placement.Candidates;
import dev.sluice.checks.multikueue.placement.Local;
import dev.sluice.checks.multikueue.placement.Remote;
import dev.sluice.controllers.world.LocalWorkers;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.CheckState;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** How a Workload stands here and in each worker, as plans know it. */
final class Views {

  private final ClusterLinks links;
  private final Sender sender;
  private final Fitting fitting;
  private final LocalWorkers localWorkers;
  private final WorkloadCopies copies = new WorkloadCopies();

  Views(ClusterLinks links, Sender sender, Fitting fitting, LocalWorkers localWorkers) {
    this.localWorkers = localWorkers;
    this.links = links;
    this.sender = sender;
    this.fitting = fitting;
  }

  /** What is remembered of a Workload between looks; for one thread at a time. */
  static final class Notes {
    private volatile Optional<Instant> lastRound = Optional.empty();
    private volatile Optional<Local.Sendable> sendable = Optional.empty();
    private final Telling telling = new Telling();

    /** Clusters were nominated. */
    void began(Instant round) {
      lastRound = Optional.of(round);
    }

    /** When what is said to people is due. */
    Telling telling() {
      return telling;
    }
  }

  /** What each worker has of a Workload, or had when last seen. */
  Map<String, JsonNode> copies(Key key) {
    Map<String, JsonNode> result = new TreeMap<>();
    for (String cluster : links.connected().keySet()) {
      links
          .workloads(cluster)
          .flatMap(objects -> objects.find(key))
          .ifPresent(copy -> result.put(cluster, copy));
    }
    return result;
  }

  /**
   * How it stands in each worker. One that it runs in and that is no worker any more counts as
   * lost: nobody knows what goes on there.
   *
   * @param leadingSince since when this process looks at all
   */
  Map<String, Remote> remotes(Errand errand, Instant leadingSince) throws IOException {
    Map<String, Remote> result = new LinkedHashMap<>();
    for (Map.Entry<String, Boolean> link : links.connected().entrySet()) {
      JsonNode object = errand.copies().get(link.getKey());
      Optional<Remote.Copy> copy =
          object == null ? Optional.empty() : Optional.of(copies.read(object, errand.workload()));
      result.put(
          link.getKey(),
          new Remote(
              link.getValue(), links.state(link.getKey()).flatMap(LinkState::lostSince), copy));
    }
    errand
        .workload()
        .map(it -> it.status().elsewhere().cluster())
        .filter(cluster -> !cluster.isEmpty() && !result.containsKey(cluster))
        .ifPresent(
            cluster ->
                result.put(
                    cluster,
                    new Remote(
                        false,
                        Optional.of(links.forgottenSince(cluster).orElse(leadingSince)),
                        Optional.empty())));
    return result;
  }

  /** Which workers it may go to, of those that its check chooses from. */
  Candidates candidates(Errand errand, Targets targets) {
    List<String> configured = errand.check().flatMap(targets::of).orElse(List.of());
    PlacementLimits limits =
        PlacementLimits.of(errand.workload().map(Workload::annotations).orElse(Map.of()));
    Map<String, String> excluded = new HashMap<>();
    configured.stream()
        .filter(localWorkers::isHere)
        .forEach(name -> excluded.put(name, "it got no quota of this cluster's flavors"));
    configured.forEach(
        name ->
            limits.forbids(name, targets.labels(name)).ifPresent(why -> excluded.put(name, why)));
    return new Candidates(configured, excluded);
  }

  /** Whose quota it holds. One that runs here does so until it is sent back. */
  LocalWorkers.Home home(Errand errand) {
    if (errand.workload().filter(LocalWorkers::isMarked).isEmpty()) {
      return new LocalWorkers.Home.Elsewhere();
    }
    Workload workload = errand.local();
    boolean runsHere =
        errand.standing() == Local.Check.READY && workload.status().elsewhere().cluster().isEmpty();
    LocalWorkers.Home home = localWorkers.home(workload);
    if (home instanceof LocalWorkers.Home.Elsewhere && runsHere) {
      return new LocalWorkers.Home.Here("");
    }
    return home;
  }

  /** How it stands here. */
  Local local(Errand errand, Notes file) throws IOException {
    boolean over = errand.workload().filter(it -> !it.deleting() && !it.finished()).isEmpty();
    if (over || errand.check().isEmpty()) {
      return new Local(
          over,
          false,
          false,
          Local.Check.PENDING,
          false,
          new Local.Sendable.Yes(),
          Optional.empty(),
          List.of(),
          Optional.empty());
    }
    Workload workload = errand.local();
    if (workload.status().elsewhere().nominated().isEmpty()) {
      file.lastRound = Optional.empty();
    }
    return new Local(
        false,
        workload.quotaReserved(),
        workload.evicted(),
        errand.standing(),
        workload.status().admissionChecks().stream()
            .filter(it -> !it.name().equals(errand.check().orElse("")))
            .allMatch(it -> it.is(CheckState.READY)),
        sendable(errand, file),
        Optional.of(workload.status().elsewhere().cluster()).filter(name -> !name.isEmpty()),
        workload.status().elsewhere().nominated(),
        file.lastRound,
        workload.quotaReserved() && workload.status().elsewhere().nominated().isEmpty()
            ? fitting.of(workload)
            : Set.of());
  }

  /** Asked of the job once: who runs it is decided when it is created. */
  private Local.Sendable sendable(Errand errand, Notes file) throws IOException {
    if (file.sendable.isPresent() || !errand.local().quotaReserved()) {
      return file.sendable.orElseGet(Local.Sendable.Yes::new);
    }
    Optional<Errand.Owner> owner = errand.owner();
    if (owner.isEmpty()) {
      String kind = errand.local().owner().map(Workload.Owner::kind).orElse("none");
      Local.Sendable no =
          new Local.Sendable.No(
              "Jobs of kind \""
                  + kind
                  + "\" can't be sent to worker clusters; allowed: "
                  + errand.kinds().names());
      file.sendable = Optional.of(no);
      return no;
    }
    Optional<ObjectNode> job = sender.job(errand, owner.get());
    if (job.isEmpty()) {
      return new Local.Sendable.Yes();
    }
    Local.Sendable answer = JobMarks.sendable(owner.get().kind(), job.get());
    file.sendable = Optional.of(answer);
    return answer;
  }
}
