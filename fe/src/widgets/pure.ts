import { Component } from "preact";

/** A component that draws again only when one of its props is another: of hundreds beside each other, a move of the pointer then costs two. */
export abstract class Pure<P extends object> extends Component<P> {
  override shouldComponentUpdate(next: P): boolean {
    return (Object.keys(next) as (keyof P)[]).some(
      (key) => next[key] !== this.props[key as keyof typeof this.props],
    );
  }
}
