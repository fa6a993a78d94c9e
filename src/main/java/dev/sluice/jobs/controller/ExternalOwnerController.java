package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Watches the objects of a kind that another controller queues, so that they are found as owners.
 */
final class ExternalOwnerController implements JobKindController {

  private final JobKind kind;
  private final SharedIndexInformer<JobObject> informer;

  ExternalOwnerController(JobKind kind, JobControllerContext context) {
    this.kind = kind;
    JobStore owners = new JobStore(new ExternalOwner(kind), object -> object);
    informer = JobObject.informer(context.client(), kind, true).itemStore(owners);
    context.dependencies().informerSupervisor().keep(kind.plural(), informer);
    context.registry().register(kind, owners::find);
  }

  @Override
  public String name() {
    return kind.plural();
  }

  @Override
  public CompletableFuture<Void> start() {
    return informer.start().toCompletableFuture();
  }

  @Override
  public void leadershipStarted() {}

  @Override
  public void enqueue(ObjectKey object) {}

  @Override
  public Duration longestHandling() {
    return Duration.ZERO;
  }

  @Override
  public void close() {
    informer.stop();
  }
}
