/** Tests of what guards the readers of the cluster. Nothing leaves. */
@NullMarked
package dev.sluice.kube.reflect;

import org.jspecify.annotations.NullMarked;
