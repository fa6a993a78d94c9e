package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * The rules that webhooks apply to Workloads. The API server asks no webhook about what the
 * operator itself writes, so Workloads of jobs are validated before they are written.
 */
@FunctionalInterface
public interface WorkloadValidation {

  /**
   * The errors in the spec and the annotations of a Workload, each with its field, its value and
   * the rule; none if it may be created.
   */
  List<String> errors(ObjectNode workload);
}
