/** Tests of the work queue. */
@NullMarked
package dev.sluice.kube.workqueue;

import org.jspecify.annotations.NullMarked;
