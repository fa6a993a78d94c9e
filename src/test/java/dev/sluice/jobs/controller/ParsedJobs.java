package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.policy.CachedJob;
import io.fabric8.kubernetes.api.model.HasMetadata;

/** Jobs as their informers read and parse them, for tests of other packages. */
public final class ParsedJobs {

  /** The type that informers of jobs read objects as. */
  public static final Class<? extends HasMetadata> TYPE = JobObject.class;

  private ParsedJobs() {}

  /** The job that an object of that type is parsed to. */
  public static CachedJob parse(HasMetadata object, JobIntegration integration) {
    JobObject read = (JobObject) object;
    read.parse(integration);
    return read.view();
  }

  /** A job that refers to an object that was read. */
  public static CachedJob referring(
      ObjectNode job, HasMetadata referenced, JobIntegration integration) {
    ObjectNode object = job.deepCopy();
    JsonNode spec = ((JobObject) referenced).tree().path("spec");
    if (spec.isObject()) {
      JobReference.setSpec(object, spec);
    }
    return CachedJobParser.of(integration, object);
  }
}
