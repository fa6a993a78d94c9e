package dev.sluice.kube.leader;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.Optional;
import java.util.function.Consumer;

/** Where the lease is kept. Calls may block, for a bounded time. */
public interface LeaseStore {

  /**
   * The lease as it stands, if it exists.
   *
   * @throws RuntimeException if that can't be found out
   */
  Optional<Lease> read();

  /**
   * Creates the lease, or replaces exactly the version that {@code lease} names.
   *
   * @return the lease as it stands now; empty if somebody else was faster
   * @throws RuntimeException if it is unknown what became of it
   */
  Optional<Lease> write(Lease lease);

  /**
   * Tells of changes of the lease from now on, as well as that can be done: changes may be missed,
   * so that the lease has to be read from time to time all the same.
   *
   * @param changed is given the lease after each change, on any thread; it must not block
   * @return closing it ends that
   * @throws RuntimeException if nothing can be told
   */
  default AutoCloseable watch(Consumer<Lease> changed) {
    return () -> {};
  }
}
