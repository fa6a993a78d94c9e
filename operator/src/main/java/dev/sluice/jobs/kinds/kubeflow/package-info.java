/** Jobs of the training operator. Read from and written to JSON; no I/O. */
@NullMarked
package dev.sluice.jobs.kinds.kubeflow;

import org.jspecify.annotations.NullMarked;
