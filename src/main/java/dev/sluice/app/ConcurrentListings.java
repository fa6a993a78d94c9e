package dev.sluice.app;

import dev.sluice.app.module.CacheSyncWaiter;
import dev.sluice.app.module.CertificateModule;
import dev.sluice.app.module.InformerModule;
import dev.sluice.app.module.JobModule;
import dev.sluice.app.module.OperatorModule;
import dev.sluice.app.module.WorkloadModule;
import java.io.IOException;

/**
 * Begins the first listings, which the modules after this one wait for. The kinds of this API are
 * listed when the trust in the certificate of the webhooks has been published: the API server may
 * ask this process to convert stored objects. Everything else is listed meanwhile.
 */
record ConcurrentListings(
    InformerModule informers,
    JobModule jobs,
    CertificateModule certificates,
    WorkloadModule workloads)
    implements OperatorModule {

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    informers.beginListing();
    jobs.beginListing();
    certificates.awaitFirstRefresh();
    workloads.beginListing();
  }
}
