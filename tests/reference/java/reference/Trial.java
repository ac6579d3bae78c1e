package reference;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A method of a program that is run on both brokers; it uses topics and groups of its own only. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Trial {}
