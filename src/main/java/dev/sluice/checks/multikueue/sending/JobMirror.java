package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.placement.RemoteStatuses;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * Writes to the manager's job what the worker's tells: to its status, or to an annotation where the
 * status belongs to a controller of the manager. From any thread.
 */
final class JobMirror {

  private static final Duration UNTIL_RELEASED = Duration.ofSeconds(2);

  private final Server manager;

  JobMirror(Server manager) {
    this.manager = manager;
  }

  /**
   * The job is about to be made in a worker: from now on its quota isn't given back while pods of
   * it may run there.
   */
  void announce(Errand errand, Errand.Owner owner, JsonNode local) throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local) && RemoteStatuses.of(local).isEmpty()) {
      ObjectNode nothing = JsonNodeFactory.instance.objectNode();
      write(errand, owner, local, RemoteStatus.telling(nothing));
    }
  }

  /**
   * Brings the worker's status here.
   *
   * @return how long to wait when it can't be brought now
   */
  Optional<Duration> mirror(Errand errand, Errand.Owner owner, ObjectNode local, JsonNode there)
      throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local)) {
      tell(errand, owner, local, there);
      return Optional.empty();
    }
    JobCopies.Mirrored mirrored = JobCopies.mirrored(owner.kind(), local, there, errand.now());
    writeStatus(errand, owner, local, mirrored.patch());
    return mirrored.heldBack() ? Optional.of(UNTIL_RELEASED) : Optional.empty();
  }

  /** The status there becomes that here when it is an end; until then it is only told. */
  private void tell(Errand errand, Errand.Owner owner, ObjectNode local, JsonNode there)
      throws IOException {
    boolean told = RemoteStatuses.of(local).isPresent();
    ObjectNode shown = RemoteStatus.shown(owner.kind(), local);
    JsonNode now =
        JobCopies.appliedTo(
                shown, JobCopies.mirrored(owner.kind(), shown, there, errand.now()).patch())
            .path("status");
    if (JobCopies.ended(owner.kind(), there)) {
      writeStatus(errand, owner, local, JobCopies.statusPatch(local, now));
      if (told) {
        manager.patch(path(errand, owner), RemoteStatus.silent());
      }
    } else if (isStopped(errand, owner, there)) {
      silence(errand, owner, local);
    } else if (!told || !shown.path("status").equals(now)) {
      write(errand, owner, local, RemoteStatus.telling(now));
    }
  }

  private static boolean isStopped(Errand errand, Errand.Owner owner, JsonNode there) {
    return errand.local().evicted()
        && JobCopies.at(there, owner.kind().suspend()).asBoolean()
        && RemoteStatus.isQuiet(there.path("status"));
  }

  /** It is sent back, and was never made in the worker, or is gone there. */
  void missing(Errand errand, Errand.Owner owner, ObjectNode local) throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local) && errand.local().evicted()) {
      silence(errand, owner, local);
    }
  }

  /**
   * No pod of it is known in workers any more.
   *
   * @return how long to wait until that can be written
   */
  Optional<Duration> settle(Errand errand, Errand.Owner owner, ObjectNode local)
      throws IOException {
    if (RemoteStatus.isFor(owner.kind(), local)) {
      silence(errand, owner, local);
      return Optional.empty();
    }
    writeStatus(errand, owner, local, JobCopies.settled(owner.kind(), local, errand.now()));
    boolean suspended = JobCopies.at(local, owner.kind().suspend()).asBoolean();
    return suspended ? Optional.empty() : Optional.of(UNTIL_RELEASED);
  }

  private void silence(Errand errand, Errand.Owner owner, JsonNode local) throws IOException {
    if (RemoteStatuses.of(local).isPresent()) {
      write(errand, owner, local, RemoteStatus.silent());
    }
  }

  private void writeStatus(Errand errand, Errand.Owner owner, JsonNode local, ObjectNode patch)
      throws IOException {
    if (!patch.isEmpty()) {
      manager.patch(path(errand, owner) + "/status", Errand.at(local, patch));
    }
  }

  private void write(Errand errand, Errand.Owner owner, JsonNode local, ObjectNode patch)
      throws IOException {
    manager.patch(path(errand, owner), Errand.at(local, patch));
  }

  private static String path(Errand errand, Errand.Owner owner) {
    return owner.path(errand.key().namespace());
  }
}
