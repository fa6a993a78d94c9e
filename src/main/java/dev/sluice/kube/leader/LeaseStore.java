package dev.sluice.kube.leader;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.Optional;

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
}
