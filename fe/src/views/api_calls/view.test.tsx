import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
