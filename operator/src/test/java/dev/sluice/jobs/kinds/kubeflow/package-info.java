/** Tests of the training operator's jobs. */
@NullMarked
package dev.sluice.jobs.kinds.kubeflow;

import org.jspecify.annotations.NullMarked;
