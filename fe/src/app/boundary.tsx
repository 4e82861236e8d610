import { Component, type ComponentChildren } from "preact";
import { messageOf } from "../base/errors";
import { CopyButton, ErrorState } from "../widgets";

interface BoundaryProps {
  reset: string;
  children: ComponentChildren;
}

interface BoundaryState {
  thrown: unknown;
  reset: string;
}

export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { thrown: null, reset: this.props.reset };

  static override getDerivedStateFromError(thrown: unknown): Partial<BoundaryState> {
    return { thrown: thrown ?? new Error("nothing was thrown") };
  }

  static override getDerivedStateFromProps(
    props: BoundaryProps,
    state: BoundaryState,
  ): Partial<BoundaryState> | null {
    return props.reset === state.reset ? null : { thrown: null, reset: props.reset };
  }

  override render(): ComponentChildren {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
    return (
      <div class="panel boundary">
        <ErrorState
          title="This view stopped with an error"
          error={{
            message: messageOf(thrown),
            hint: "The other views still work. Please report this with the details below.",
          }}
          retry={() => this.setState({ thrown: null })}
        />
        <details>
          <summary>Details</summary>
          <pre tabIndex={0}>{stack}</pre>
          <CopyButton text={stack} label="Copy the details" />
        </details>
      </div>
    );
  }
}
