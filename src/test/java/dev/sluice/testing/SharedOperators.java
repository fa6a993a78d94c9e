package dev.sluice.testing;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Control planes with an operator in each, one for each configuration that is in use. One that
 * nobody uses any more stays, for the next configuration: the operator is started anew there.
 */
final class SharedOperators implements AutoCloseable {

  private final List<Site> sites = new ArrayList<>();

  /** A control plane, and the operator that works for it. */
  private static final class Site {
    private final Object preparing = new Object();
    private String wanted;
    private int users;
    private @Nullable RunningControlPlane plane;
    private @Nullable LocalOperator operator;

    Site(String wanted) {
      this.wanted = wanted;
    }

    /** Starts what doesn't run yet. */
    RunningControlPlane prepare() {
      synchronized (preparing) {
        RunningControlPlane started = plane;
        if (started == null) {
          started = RunningControlPlane.startShared("shared");
          plane = started;
        }
        if (operator == null) {
          operator =
              LocalOperator.start(
                  "operator-of-" + started.controlPlane().name(),
                  started.controlPlane().kubeconfig(),
                  wanted);
        }
        return started;
      }
    }

    void stopOperator() {
      synchronized (preparing) {
        LocalOperator running = operator;
        operator = null;
        if (running != null) {
          running.close();
        }
      }
    }

    void close() {
      stopOperator();
      synchronized (preparing) {
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
    Site site;
    boolean otherOperator;
    synchronized (this) {
      site = choose(configuration);
      otherOperator = !site.wanted.equals(configuration);
      site.wanted = configuration;
      site.users++;
    }
    boolean ready = false;
    try {
      if (otherOperator) {
        site.stopOperator();
      }
      RunningControlPlane plane = site.prepare();
      ready = true;
      return new Lease(this, site, plane);
    } finally {
      if (!ready) {
        release(site);
      }
    }
  }

  private Site choose(String configuration) {
    for (Site site : sites) {
      if (site.wanted.equals(configuration)) {
        return site;
      }
    }
    for (Site site : sites) {
      if (site.users == 0) {
        return site;
      }
    }
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
