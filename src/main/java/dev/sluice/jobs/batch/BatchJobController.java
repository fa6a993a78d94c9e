package dev.sluice.jobs.batch;

import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobController;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.OwnerChainResolver;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;

/** The Jobs of {@code batch/v1} in the operator framework. */
public final class BatchJobController extends JobController<BatchJobResource> {

  /**
   * The controller of Jobs.
   *
   * @param background runs what must not hold up the Workload reader
   * @param leading whether this process may write, at the moment of asking
   */
  public BatchJobController(
      JobReconciler reconciler,
      OwnerChainResolver ownerChainResolver,
      IntegrationRegistry directory,
      JobReconciler.Dependencies around,
      ExecutorService background,
      BooleanSupplier leading) {
    super(BatchJob.KIND, reconciler, ownerChainResolver, directory, around, background, leading);
  }
}
