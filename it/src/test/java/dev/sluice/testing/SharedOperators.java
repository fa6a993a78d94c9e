package dev.sluice.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Control planes with an operator in each, one for each configuration that is in use, and control
 * planes without one for classes that start operators themselves. A control plane that nobody uses
 * any more stays, for the next configuration or class: the operator is started anew there.
 */
final class SharedOperators implements AutoCloseable {

  private final List<Site> sites = new ArrayList<>();

  /** A control plane, and the operator that works for it. */
  private static final class Site {
    private final Object preparing = new Object();

    /** The configuration of its operator; empty if none shall run. Guarded by the owner. */
    private Optional<String> wanted;

    /** Guarded by the owner. */
    private int users;

    private @Nullable RunningControlPlane plane;
    private @Nullable LocalOperator operator;
    private Optional<String> configured = Optional.empty();

    Site(Optional<String> wanted) {
      this.wanted = wanted;
    }

    /** Starts what doesn't run yet, and stops an operator of another configuration. */
    RunningControlPlane prepare(Optional<String> configuration) {
      synchronized (preparing) {
        RunningControlPlane started = plane;
        if (started == null) {
          started = RunningControlPlane.startShared("shared");
          plane = started;
        }
        if (!configured.equals(configuration)) {
          stopOperator();
        }
        if (operator == null && configuration.isPresent()) {
          operator =
              LocalOperator.start(
                  "operator-of-" + started.controlPlane().name(),
                  started.controlPlane().kubeconfig(),
                  configuration.get());
          configured = configuration;
        }
        return started;
      }
    }

    private void stopOperator() {
      LocalOperator running = operator;
      operator = null;
      configured = Optional.empty();
      if (running != null) {
        running.close();
      }
    }

    void close() {
      synchronized (preparing) {
        stopOperator();
        if (plane != null) {
          plane.close();
        }
      }
    }
  }

  /** A class's right to use a control plane and its operator, until it is closed. */
  static final class Lease implements AutoCloseable {
    private final SharedOperators owner;
    private final Site site;
    private final RunningControlPlane plane;

    private Lease(SharedOperators owner, Site site, RunningControlPlane plane) {
      this.owner = owner;
      this.site = site;
      this.plane = plane;
    }

    RunningControlPlane plane() {
      return plane;
    }

    @Override
    public void close() {
      owner.release(site);
    }
  }

  /** A control plane where an operator with these fields of a configuration is ready. */
  Lease lease(String configuration) {
    return lease(Optional.of(configuration));
  }

  /** A control plane where no operator runs, for one class alone. */
  Lease leaseWithoutOperator() {
    return lease(Optional.empty());
  }

  private Lease lease(Optional<String> configuration) {
    Site site;
    synchronized (this) {
      site = choose(configuration);
      site.wanted = configuration;
      site.users++;
    }
    boolean ready = false;
    try {
      RunningControlPlane plane = site.prepare(configuration);
      ready = true;
      return new Lease(this, site, plane);
    } finally {
      if (!ready) {
        release(site);
      }
    }
  }

  /** One of this configuration, or else one that nobody uses, best without an operator. */
  private Site choose(Optional<String> configuration) {
    Predicate<Site> same =
        site -> site.wanted.equals(configuration) && (site.users == 0 || configuration.isPresent());
    Predicate<Site> unused = site -> site.users == 0;
    return first(same)
        .or(() -> first(unused.and(site -> site.wanted.isEmpty())))
        .or(() -> first(unused))
        .orElseGet(() -> added(configuration));
  }

  private Optional<Site> first(Predicate<Site> condition) {
    return sites.stream().filter(condition).findFirst();
  }

  private Site added(Optional<String> configuration) {
    Site site = new Site(configuration);
    sites.add(site);
    return site;
  }

  private synchronized void release(Site site) {
    site.users--;
  }

  @Override
  public synchronized void close() {
    sites.forEach(Site::close);
  }
}
