/** Tests of the training operator's jobs. */
@NullMarked
package dev.sluice.jobs.kubeflow;

import org.jspecify.annotations.NullMarked;
