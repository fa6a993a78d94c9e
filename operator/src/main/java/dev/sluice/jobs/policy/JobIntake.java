package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobRef;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

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
            JobRef job,
            Map<String, String> labels,
            Map<String, String> annotations,
            Supplier<List<ObjectNode>> templates) {
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

  /**
   * The queue of a job that names none, by what is known now.
   *
   * @param templates the templates of its pods; none if they are not known
   */
  QueueAssignment assign(
      JobRef job,
      Map<String, String> labels,
      Map<String, String> annotations,
      Supplier<List<ObjectNode>> templates);

  /**
   * Has an observer called each time when answers may have changed, with the namespaces of the jobs
   * that are to be looked at again.
   *
   * @return ends the observation
   */
  Runnable observe(Consumer<Predicate<String>> observer);
}
