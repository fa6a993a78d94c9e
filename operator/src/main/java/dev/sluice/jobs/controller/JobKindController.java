package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.ObjectKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The running controller of one kind of job: its watches, its caches and its work queue. The
 * operator holds a list of these controllers and treats all kinds alike.
 */
public interface JobKindController extends AutoCloseable {

  /** The plural name of the kind, as messages name what is watched. */
  String name();

  /**
   * Starts the watches. Objects are cached from now on and nothing is written before this process
   * leads.
   *
   * @return completes when every existing object is in the cache; fails when a watch can't start
   */
  CompletableFuture<Void> start();

  /** Reconciles every object once; called each time this process becomes the leader. */
  void leadershipStarted();

  /** Has the object of this name reconciled soon; does nothing if the kind doesn't have it. */
  void enqueue(ObjectKey object);

  /** For how long the object that is handled longest is being handled; zero if none is. */
  Duration longestHandling();

  /**
   * Ends the watches, drops what is queued, and waits for writes for a limited time. The controller
   * is not started again; a kind that comes back gets a new one.
   */
  @Override
  void close();
}
