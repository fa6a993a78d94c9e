/** Tests of what guards the readers of the cluster. Nothing leaves. */
@NullMarked
package dev.sluice.kube.reading;

import org.jspecify.annotations.NullMarked;
