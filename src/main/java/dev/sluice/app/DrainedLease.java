package dev.sluice.app;

import dev.sluice.kube.client.WriteGate;
import dev.sluice.kube.leader.LeaseElector;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of a process that writes. Closing it lets no write be sent any more, waits for those in
 * flight, and releases the lease. While a write may still be in flight the lease isn't released:
 * another process leads when the lease has run out.
 *
 * @param writes the gate of all writes that need the lease
 * @param limit the longest wait for writes in flight
 */
record DrainedLease(WriteGate writes, LeaseElector elector, Duration limit)
    implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DrainedLease.class);

  @Override
  public void close() {
    if (writes.close(limit)) {
      elector.close();
    } else {
      LOG.warn("lease released=false reason=\"writes are in flight after {}\"", limit);
      elector.abandon();
    }
  }
}
