package dev.sluice.jobs.batch;

import dev.sluice.jobs.Ancestry;
import dev.sluice.jobs.JobController;
import dev.sluice.jobs.JobDirectory;
import dev.sluice.jobs.JobReconciler;
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
      Ancestry ancestry,
      JobDirectory directory,
      JobReconciler.Surroundings around,
      ExecutorService background,
      BooleanSupplier leading) {
    super(BatchJob.KIND, reconciler, ancestry, directory, around, background, leading);
  }
}
