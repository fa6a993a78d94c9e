package dev.sluice.jobs.policy;

import dev.sluice.jobs.kind.JobRef;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Knows the LocalQueues of jobs that name none. Usable from any thread. */
public interface JobIntake {

  /** Takes no job. */
  JobIntake NONE =
      new JobIntake() {
        @Override
        public boolean isOn() {
          return false;
        }

        @Override
        public boolean takesUnsuspended() {
          return false;
        }

        @Override
        public QueueAssignment assign(
            JobRef job, Map<String, String> labels, Map<String, String> annotations) {
          return new QueueAssignment.Unassigned();
        }

        @Override
        public Runnable observe(Consumer<Predicate<String>> observer) {
          return () -> {};
        }
      };

  /** Whether jobs are taken at all; never changes. */
  boolean isOn();

  /** Whether jobs are taken, too, that are not suspended and of which nothing runs yet. */
  boolean takesUnsuspended();

  /** The queue of a job that names none, by what is known now. */
  QueueAssignment assign(JobRef job, Map<String, String> labels, Map<String, String> annotations);

  /**
   * Has an observer called each time when answers may have changed, with the namespaces of the jobs
   * that are to be looked at again.
   *
   * @return ends the observation
   */
  Runnable observe(Consumer<Predicate<String>> observer);
}
